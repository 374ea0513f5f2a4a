import type { RequestContext } from '../request/request-context.ts'
import type { IdScalar, NamespaceReference } from './global-id.ts'

/** The source types of the schema's objects. `sources.ts` adds those that several areas use; each area adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface ObjectSources {}
/** The source types of the schema's interfaces. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface InterfaceSources {}

/** The names of the sums that lists of an object type support; each area adds its own. */
// biome-ignore lint/suspicious/noEmptyInterface: areas fill it
export interface ObjectSums {}

type Scalar<Input, Output = Input> = { Input: Input; Output: Output }

/** Resolvers receive the number of an id, of a namespace also its model, and return the whole Global ID. */
type IdScalars = { [Name in IdScalar]: Scalar<Name extends 'NamespaceID' ? NamespaceReference : number, string> }

type Scalars = IdScalars & {
  ID: Scalar<string, string | number>
  /** Resolvers receive ISO 8601 text, and return milliseconds since 1970 or a day. */
  Time: Scalar<string, number | string>
  Date: Scalar<string>
  ISO8601Date: Scalar<string>
  Duration: Scalar<number>
  BigInt: Scalar<string, string | number>
  UntrustedRegexp: Scalar<string>
  JSON: Scalar<unknown>
  CiInputsValue: Scalar<unknown>
}

export interface SchemaTypes {
  Context: RequestContext
  Objects: ObjectSources
  Interfaces: InterfaceSources
  Scalars: Scalars
}

export type Types = PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>
export type Builder = PothosSchemaTypes.SchemaBuilder<Types>
/** Builds the fields of an object with the source type `Parent`. */
export type FieldsOf<Parent> = PothosSchemaTypes.ObjectFieldBuilder<Types, Parent>
/** Builds the fields of an object, of an interface, or of `Query`. */
export type AnyFieldsOf<Parent> =
  | FieldsOf<Parent>
  | PothosSchemaTypes.InterfaceFieldBuilder<Types, Parent>
  | PothosSchemaTypes.QueryFieldBuilder<Types, Parent>
/** Builds the arguments of a field of any type. */
export type ArgumentsMaker = Pick<FieldsOf<unknown>, 'arg'>
export type ObjectName = keyof ObjectSources & string
