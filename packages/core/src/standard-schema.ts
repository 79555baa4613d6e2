/** The interface of Standard Schema v1 (https://standardschema.dev), which zod 4, valibot and arktype implement. Types only, copied as the specification invites to. */

/** A schema of any library that implements Standard Schema. */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  /** The properties of the specification. */
  readonly '~standard': StandardProperties<Input, Output>;
}

interface StandardProperties<Input, Output> {
  readonly version: 1;
  readonly vendor: string;
  readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** What a schema says of one value: its output, or what is wrong and where. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong. Its message may quote the value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema makes of a value. */
export type OutputOf<S extends StandardSchemaV1> = NonNullable<S['~standard']['types']>['output'];
