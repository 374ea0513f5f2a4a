/**
 * The cost of a field without the fields below it, if it is not 1.
 *
 * - `resolver`: the field has its own lookup. Its arguments count, and its page size if it is a connection.
 * - `repository`: adds 1, because the field reads from a repository.
 */
export interface Cost {
  readonly resolver?: true
  readonly repository?: true
  /** The extra cost of each argument that is present. */
  readonly arguments?: Readonly<Record<string, number>>
  /** The extra cost if any argument is present. */
  readonly anyArgument?: number
}

/** The cost of a field with its own lookup. */
export const lookup: Cost = { resolver: true }

/** The cost of a field that reads from a repository. */
export const repositoryRead: Cost = { repository: true }

/** Returns the options of a field with this cost, for areas that declare the cost beside the field. */
export const withCost = (cost: Cost) => ({ extensions: { cost } })
