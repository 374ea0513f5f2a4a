import { type ASTNode, BREAK, type DocumentNode, Kind, visit } from 'graphql'

/** Returns the position of a node in a document: its operation or fragment, and the fields that lead to it. */
export function pathInDocument(document: DocumentNode, target: ASTNode): readonly string[] {
  const path: string[] = []
  let found: readonly string[] = []
  visit(document, {
    enter(node) {
      const name = nameInPath(node)
      if (name !== undefined) path.push(name)
      if (node !== target) return undefined
      found = [...path]
      return BREAK
    },
    leave(node) {
      if (nameInPath(node) !== undefined) path.pop()
    },
  })
  return found
}

function nameInPath(node: ASTNode): string | undefined {
  switch (node.kind) {
    case Kind.OPERATION_DEFINITION:
      return [node.operation, node.name?.value].filter(Boolean).join(' ')
    case Kind.FRAGMENT_DEFINITION:
      return `fragment ${node.name.value}`
    case Kind.FIELD:
      return node.name.value
    default:
      return undefined
  }
}
