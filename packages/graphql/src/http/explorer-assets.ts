import { createHash } from 'node:crypto'

/** A file of the explorer. Its name contains a hash of its content, so that browsers can cache it forever. */
interface ExplorerAsset {
  readonly name: string
  readonly contentType: string
  readonly content: Uint8Array
}

const script = 'text/javascript; charset=utf-8'
/** The content types of the files. The keys of the workers are the labels by which the editor requests them. */
const contentTypes = {
  graphiql: script,
  style: 'text/css; charset=utf-8',
  editorWorkerService: script,
  json: script,
  graphql: script,
} as const

export type ExplorerAssets = Readonly<Record<keyof typeof contentTypes, ExplorerAsset>>

let loaded: Promise<ExplorerAssets> | undefined

/** Loads the files on first use: they take 8 MB, which most processes never need. */
export function explorerAssets(): Promise<ExplorerAssets> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<ExplorerAssets> {
  const { js, css, editorWorkerService, jsonWorker, graphqlWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  )
  const asset = (key: keyof typeof contentTypes, text: string): ExplorerAsset => {
    const content = Buffer.from(text)
    const contentType = contentTypes[key]
    const digest = createHash('sha256').update(content).digest('hex').slice(0, 16)
    return { name: `${key}-${digest}.${contentType === script ? 'js' : 'css'}`, contentType, content }
  }
  return {
    graphiql: asset('graphiql', js),
    style: asset('style', css),
    editorWorkerService: asset('editorWorkerService', editorWorkerService),
    json: asset('json', jsonWorker),
    graphql: asset('graphql', graphqlWorker),
  }
}
