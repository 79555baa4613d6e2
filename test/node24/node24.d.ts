/** The path of a Node 24, or undefined where the package has none for this platform (it is Linux x64 only). */
export function node24(): string | undefined;
