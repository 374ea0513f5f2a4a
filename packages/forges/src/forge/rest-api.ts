/** How the REST API of a forge is addressed, and how its lists are paged. */
export interface RestApi {
  /** The path of the API below the address of the forge, such as `/api/v4`. */
  readonly path: string
  /** Returns the headers that authenticate a request. */
  readonly credentials: (token: string) => Readonly<Record<string, string>>
  /** Reads the headers of an answer that is a page of a list. */
  readonly readPage: (headers: Readonly<Record<string, string>>) => PageHeaders
}

export interface PageHeaders {
  /** The number of items on all pages; absent if the forge does not send it. */
  readonly total: number | undefined
  /** Whether there is a next page. True if the forge does not send it: an empty page is then the last one. */
  readonly hasNext: boolean
}
