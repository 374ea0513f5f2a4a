/**
 * The error for a query or form that cannot be parsed: it is not UTF-8, has no boundary, or has too many entries. Only an
 * application with routes that accept forms has to handle it in `renderError`.
 */
export class MalformedForm extends Error {
  override readonly name = 'MalformedForm'
}
