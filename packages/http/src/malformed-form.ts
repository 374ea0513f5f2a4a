/**
 * A query or a form that cannot be taken apart: text that is no UTF-8, a boundary that is missing, more entries than
 * anyone needs. Only applications whose routes take forms have to put it into words.
 */
export class MalformedForm extends Error {
  override readonly name = 'MalformedForm'
}
