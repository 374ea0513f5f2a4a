import { type DocumentNode, GraphQLError, Kind, Lexer, parse, Source, TokenKind, visit } from 'graphql'
import { isStorable } from './storable-text.ts'

/** The limit for brackets that are open at once. The parser and the visitors recurse once per bracket. */
const MAX_OPEN = 200

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** Parses a document. Returns an error if the text is not a document. */
export function parseDocument(query: string): DocumentNode | GraphQLError {
  const source = new Source(query)
  if (query.trim() === '') return new GraphQLError('Unexpected end of document', { source, positions: [] })
  try {
    validateBracketDepth(source)
    const document = parse(source)
    validateTexts(document)
    return withStringIids(document)
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}

/** @throws GraphQLError */
function validateBracketDepth(source: Source): void {
  if ((source.body.match(/[{[(]/g)?.length ?? 0) <= MAX_OPEN) return
  const lexer = new Lexer(source)
  let open = 0
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    if (opening.has(token.kind)) open += 1
    if (closing.has(token.kind)) open -= 1
    if (open > MAX_OPEN) {
      throw new GraphQLError(`Syntax Error: nested deeper than ${MAX_OPEN}`, { source, positions: [token.start] })
    }
  }
}

/** @throws GraphQLError */
function validateTexts(document: DocumentNode): void {
  visit(document, {
    StringValue(node) {
      if (!isStorable(node.value)) throw new GraphQLError('Text that cannot be stored', { nodes: node })
    },
  })
}

/** Converts the number in `pipeline(iid: 58)` to a string. GitLab accepts both; the argument is declared as `String` here. */
function withStringIids(document: DocumentNode): DocumentNode {
  return visit(document, {
    Field(field) {
      if (field.name.value !== 'pipeline') return undefined
      const isNumber = (argument: (typeof field.arguments & object)[number]) =>
        argument.name.value === 'iid' && argument.value.kind === Kind.INT
      if (!field.arguments?.some(isNumber)) return undefined
      return {
        ...field,
        arguments: field.arguments.map((argument) =>
          isNumber(argument) ? { ...argument, value: { ...argument.value, kind: Kind.STRING } } : argument,
        ),
      }
    },
  })
}
