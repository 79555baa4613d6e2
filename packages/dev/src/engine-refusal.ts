/** A statement, or a value in its result, that this engine will not take; the message is for its sender. */
export class Refusal extends Error {}
