import { createHash } from 'node:crypto'

/** A file of the explorer, under a name that changes with its content. */
export interface ExplorerAsset {
  readonly name: string
  readonly contentType: string
  /** Bytes, which all answers share. */
  readonly content: Uint8Array
}

const script = 'text/javascript; charset=utf-8'
/** By what the page knows them as; the workers' keys are the labels the editor asks for. */
const contentTypes = {
  graphiql: script,
  style: 'text/css; charset=utf-8',
  editorWorkerService: script,
  json: script,
  graphql: script,
} as const

export type ExplorerAssets = Readonly<Record<keyof typeof contentTypes, ExplorerAsset>>

let loaded: Promise<ExplorerAssets> | undefined

/** Loaded when the page is first asked for: 8 MB that most processes never need. */
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
