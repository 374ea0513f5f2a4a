import { type DocumentNode, GraphQLError, Kind, Lexer, parse, Source, TokenKind, visit } from 'graphql'
import { isSound } from './sound-text.ts'

/** Brackets of all kinds, open at once. The parser, and what walks through documents, goes down with each. */
const MAX_OPEN = 200

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/**
 * @returns an error for what is no document
 * @see spec/graphql-contract.md 4.1
 */
export function parseDocument(query: string): DocumentNode | GraphQLError {
  const source = new Source(query)
  if (query.trim() === '') return new GraphQLError('Unexpected end of document', { source, positions: [] })
  try {
    requireShallow(source)
    const document = parse(source)
    requireSoundTexts(document)
    return withTextIids(document)
  } catch (error) {
    if (error instanceof GraphQLError) return error
    throw error
  }
}

/** @throws GraphQLError */
function requireShallow(source: Source): void {
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
function requireSoundTexts(document: DocumentNode): void {
  visit(document, {
    StringValue(node) {
      if (!isSound(node.value)) throw new GraphQLError('Text that cannot be stored', { nodes: node })
    },
  })
}

/** `pipeline(iid: 58)` is written for the platform, whose argument takes a number as well. @see spec/graphql-contract.md 3.3 */
function withTextIids(document: DocumentNode): DocumentNode {
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
