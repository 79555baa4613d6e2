/** The interface of Standard Schema v1 (https://standardschema.dev), which zod 4, valibot and arktype implement, copied as the specification invites to. */

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

/** Whether a value is a schema of the specification. Some libraries make theirs functions. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return (
    typeof standard === 'object' &&
    standard !== null &&
    typeof Reflect.get(standard, 'validate') === 'function'
  );
}
