/** The properties of a page: the values of the `:names` in its path. The rest of its state is in the query. */
export interface PageProps {
  readonly params: Readonly<Record<string, string>>
}
