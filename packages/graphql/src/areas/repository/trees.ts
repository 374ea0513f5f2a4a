import {
  type EntryOfTree,
  entriesOfTrees,
  type ListedCommit,
  lastCommitsAt,
  type RepositoryReader,
  type RepositoryTree,
  treesAt,
} from '@penstock/core'
import { loadBatched, type RequestContext } from '../../request/request-context.ts'
import { connectionField } from '../../schema/connection-field.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { listed, listedEmpty } from '../../schema/listed.ts'
import type { ArgumentsMaker, FieldsOf } from '../../schema/schema-types.ts'
import type { CommitOfProject } from '../../schema/sources.ts'
import { encodedPath } from '../../schema/web-address.ts'
import { kindOf, type RefType } from './ref-type.ts'

/** A directory at a ref, which may not exist. */
interface TreeSource {
  readonly reader: RepositoryReader
  readonly selector: { readonly path: string; readonly ref?: string; readonly refKind?: 'heads' | 'tags' }
  /** `undefined` if the ref or the directory does not exist. */
  readonly tree: RepositoryTree | undefined
}

declare module '../../schema/schema-types.ts' {
  interface InterfaceSources {
    Entry: EntryOfTree
  }
  interface ObjectSources {
    Tree: TreeSource
    TreeEntry: EntryOfTree
    Blob: EntryOfTree
    Submodule: EntryOfTree
  }
}

const MAX_PAGE_OF_ENTRIES = 100

export function addTrees(kit: Kit): void {
  const { builder, globalIds, web } = kit
  const { refType } = sharedEnums(kit)
  const entryType = builder.enumType('EntryType', { values: ['blob', 'commit', 'tree'] as const })
  const address = ({ tree, path }: EntryOfTree, view: 'tree' | 'blob') =>
    `${tree.project.fullPath}/-/${view}/${encodedPath(tree.ref)}/${encodedPath(path)}`
  const addressFields = (t: FieldsOf<EntryOfTree>, view: 'tree' | 'blob') => ({
    webPath: t.string({ resolve: (entry) => web.path(address(entry, view)) }),
    webUrl: t.string({ resolve: (entry) => web.url(address(entry, view)) }),
  })

  builder.interfaceType('Entry', {
    description: 'An entry of a directory',
    resolveType: ({ type }) => ({ tree: 'TreeEntry', blob: 'Blob', commit: 'Submodule' })[type],
    fields: (t) => ({
      id: t.id({ nullable: false, resolve: ({ sha, type }) => globalIds.ofType(modelOf[type], sha) }),
      sha: t.exposeString('sha', { nullable: false }),
      name: t.exposeString('name', { nullable: false }),
      path: t.exposeString('path', { nullable: false }),
      flatPath: t.string({
        nullable: false,
        description: 'The path of the first directory below that has more than one directory as its content',
        resolve: (entry, _args, { deadline }) => {
          deadline.requireTime()
          return entry.tree.flatPathOf(entry)
        },
      }),
      type: t.field({ type: entryType, nullable: false, resolve: ({ type }) => type }),
    }),
  })
  builder.objectType('TreeEntry', {
    description: 'A directory',
    interfaces: ['Entry'],
    fields: (t) => addressFields(t, 'tree'),
  })
  builder.objectType('Blob', {
    description: 'A file',
    interfaces: ['Entry'],
    fields: (t) => ({
      ...addressFields(t, 'blob'),
      mode: t.exposeString('mode', { nullable: true }),
      lfsOid: constantFields(t).nullText(),
    }),
  })
  builder.objectType('Submodule', {
    description: 'A submodule. Its addresses are null, because `.gitmodules` is not read',
    interfaces: ['Entry'],
    fields: (t) => ({ webUrl: constantFields(t).nullText(), treeUrl: constantFields(t).nullText() }),
  })

  builder.objectType('Tree', {
    description: 'A directory with its entries; without any if the ref or the directory does not exist',
    fields: (t) => ({
      trees: entries(kit, t, 'TreeEntry'),
      blobs: entries(kit, t, 'Blob'),
      submodules: entries(kit, t, 'Submodule'),
      lastCommit: t.field({
        type: 'Commit',
        description: 'The last commit that changed the directory',
        ...withCost(repositoryRead),
        resolve: async ({ reader, selector }, _args, context): Promise<CommitOfProject | undefined> =>
          commitIn(reader, await loadBatched(context, lastCommitsAt, reader, selector)),
      }),
      permalinkPath: t.string({
        resolve: ({ tree }) =>
          tree && web.path(`${tree.project.fullPath}/-/tree/${[tree.sha, ...segments(tree.path)].join('/')}`),
      }),
    }),
  })

  const place = (t: ArgumentsMaker) => ({
    path: t.arg.string({ defaultValue: '' }),
    recursive: t.arg.boolean({ defaultValue: false }),
    ref: t.arg.string(),
    refType: t.arg({ type: refType }),
  })
  builder.objectFields('Repository', (t) => ({
    tree: t.field({ type: 'Tree', ...withCost(repositoryRead), args: place(t), resolve: treeOf }),
    paginatedTree: connectionField(kit, t, 'Tree', {
      description: `Each page is one tree with at most ${MAX_PAGE_OF_ENTRIES} entries`,
      cost: { resolver: true, repository: true },
      args: place(t),
      maxPageSize: 1,
      list: async (reader, args, context) => {
        const source = await treeOf(reader, args, context)
        return source && listed(pagesOf(source))
      },
    }),
  }))
}

const modelOf = { tree: 'TreeEntry', blob: 'Blob', commit: 'Submodule' } as const
const typeOf = { TreeEntry: 'tree', Blob: 'blob', Submodule: 'commit' } as const

const entries = (kit: Kit, t: FieldsOf<TreeSource>, node: keyof typeof typeOf) =>
  connectionField(kit, t, node, {
    nullable: false,
    list: async ({ tree }, _args, context) => {
      if (tree === undefined) return listedEmpty<EntryOfTree>()
      return loadBatched(context, entriesOfTrees, tree, { type: typeOf[node] })
    },
  })

interface TreeArguments {
  readonly path?: string | null | undefined
  readonly recursive?: boolean | null | undefined
  readonly ref?: string | null | undefined
  readonly refType?: RefType | null | undefined
}

async function treeOf(
  reader: RepositoryReader,
  { path, recursive, ref, refType }: TreeArguments,
  context: RequestContext,
): Promise<TreeSource | null> {
  if (!reader.exists) return null
  const refKind = kindOf(refType)
  const selector = { path: path ?? '', ...(ref && { ref }), ...(refKind && { refKind }) }
  const tree = await loadBatched(context, treesAt, reader, { ...selector, recursive: recursive === true })
  return { reader, selector, tree }
}

/** Splits the entries of a tree into pages. An empty tree is one page. */
function pagesOf(source: TreeSource): TreeSource[] {
  const { tree } = source
  if (tree === undefined || tree.entries.length <= MAX_PAGE_OF_ENTRIES) return [source]
  return Array.from({ length: Math.ceil(tree.entries.length / MAX_PAGE_OF_ENTRIES) }, (_, page) => {
    const first = page * MAX_PAGE_OF_ENTRIES
    return { ...source, tree: { ...tree, entries: tree.entries.slice(first, first + MAX_PAGE_OF_ENTRIES) } }
  })
}

const segments = (path: string): string[] => (path === '' ? [] : [encodedPath(path.replace(/^\/+|\/+$/g, ''))])

/** Returns a commit with its project, which is part of the address of the commit's page. */
export const commitIn = (
  { project }: RepositoryReader,
  commit: ListedCommit | undefined,
): CommitOfProject | undefined => commit && { ...commit, inProject: project }
