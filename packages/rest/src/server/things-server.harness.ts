import {
  type Actor,
  command,
  getProject,
  invalid,
  namespaceRef,
  notFound,
  type Page,
  pageInput,
  query,
  unscopedCommand,
  unscopedQuery,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach } from 'vitest'
import { z } from 'zod'
import { RestError } from '../routing/rest-error.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { type RestOptions, restListener } from './serve-rest.ts'

const uploadedFile = z.object({ fileName: z.string(), contentType: z.string(), bytes: z.instanceof(Uint8Array) })

interface Thing {
  readonly id: number
  readonly title: string
}

const thingShape: Shape<Thing> = {
  schema: z.object({ id: z.int(), title: z.string(), web_url: z.string() }),
  of: ({ id, title }, { externalUrl }) => ({ id, title, web_url: `${externalUrl}/things/${id}` }),
}

const listThings = unscopedQuery(
  { name: 'listThings', caller: 'anyone', input: z.object({ ...pageInput, state: z.enum(['open']).optional() }) },
  async (_, { page, perPage }): Promise<Page<Thing>> => ({
    items: [{ id: 1, title: 'one' }],
    page,
    perPage,
    hasNext: true,
    total: 30,
  }),
)
const createThing = unscopedCommand(
  {
    limits: [{ name: 'things', per: ['user'], count: 3, periodSeconds: 3_600 }],
    name: 'createThing',
    input: z.object({ title: z.string().min(1), file: uploadedFile.optional() }),
  },
  async ({ actor }, { title, file }) => {
    if (title === 'bug') throw new Error('internal detail')
    if (title === 'taken') throw invalid({ title: ['has already been taken'] })
    return { id: file?.bytes.length ?? actor!.id, title }
  },
)
const removeThing = unscopedCommand(
  { name: 'removeThing', input: z.object({ thingId: z.int() }) },
  async (_, { thingId }) => {
    if (thingId > 9) throw notFound()
  },
)
const adminThing = unscopedQuery(
  { name: 'adminThing', caller: 'administrator', input: z.object({ n: z.int() }) },
  async () => 1,
)
const projectThing = query(
  {
    name: 'projectThing',
    caller: 'anyone',
    input: z.object({ project: namespaceRef }),
    permission: 'read_project',
    subject: (reading, { project }) => getProject(reading, project),
  },
  async ({ subject }) => subject.fullPath,
)
const changeProject = command(
  {
    name: 'changeProject',
    input: z.object({ project: namespaceRef }),
    permission: 'read_project',
    subject: (reading, { project }) => getProject(reading, project),
  },
  async ({ subject }) => subject.fullPath,
)
const readText = unscopedQuery(
  { name: 'readText', caller: 'anyone', input: z.object({ slug: z.string(), format: z.string().optional() }) },
  async (_, { slug }) => slug,
)

const text = (body: string) => ({ type: 'text/plain', body })
const things: Area = {
  tag: 'things',
  routes: [
    route({ method: 'GET', path: '/things', operation: listThings, summary: 'List', shape: thingShape }),
    route({
      method: 'POST',
      path: '/things',
      operation: createThing,
      summary: 'Create',
      shape: thingShape,
      invalid: (fields) => `Failed ${JSON.stringify(fields)}`,
    }),
    route({ method: 'DELETE', path: '/things/:thing_id', operation: removeThing, summary: 'Remove' }),
    route({ method: 'GET', path: '/admin', operation: adminThing, summary: 'Admin', content: () => text('1') }),
    route({
      method: 'GET',
      path: '/projects/:id',
      names: { project: 'id' },
      operation: projectThing,
      summary: 'Read',
      content: text,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id',
      names: { project: 'id' },
      operation: changeProject,
      summary: 'Change',
      content: text,
    }),
    route({
      method: 'GET',
      path: '/texts/:slug',
      operation: readText,
      summary: 'Text',
      content: text,
      endsInName: true,
    }),
    route({
      method: 'GET',
      path: '/pages/*slug',
      operation: readText,
      summary: 'Page',
      content: text,
      endsInName: true,
      encodedTwice: ['slug'],
    }),
  ],
}

export let world: World
let server: Listening | undefined
export let mira: NonNullable<Actor>

/** Accepts the username `mira` in PRIVATE-TOKEN or `private_token` as a credential. */
const authenticate: NonNullable<RestOptions['authenticate']> = async (
  _,
  { headers, parameters },
  { authenticates },
) => {
  const shown = parameters.private_token ?? headers['private-token']
  if (shown === undefined || !authenticates) return { actor: undefined }
  if (shown !== 'mira') throw new RestError(401, { message: '401 Unauthorized' })
  return { actor: mira }
}

/** Gives each test a world with a user, and closes the server that `call` has started. */
export function inRestWorld(): void {
  beforeEach(async () => {
    world = await World.open()
    mira = await world.user('mira')
  })

  afterEach(async () => {
    await server?.close()
    server = undefined
    await world.close()
  })
}

/** Sends a request to a server with the routes above, which starts with the first request of a test. */
export async function call(path: string, init: RequestInit & { as?: string } = {}, options: Partial<RestOptions> = {}) {
  server ??= await listen(
    restListener({ core: world.core, areas: [things], log: silentLog, authenticate, ...options }),
    { host: '127.0.0.1', port: 0 },
  )
  const response = await fetch(server.url + path, {
    redirect: 'manual',
    ...init,
    headers: { connection: 'close', ...(init.as && { 'private-token': init.as }), ...init.headers },
  })
  const content = await response.text()
  const json = () => JSON.parse(content)
  return {
    status: response.status,
    headers: response.headers,
    text: content,
    json,
    statusAndJson: () => [response.status, json()],
  }
}
/** Returns a request with a form. */
export const form = (body: string) => ({ method: 'POST', body: new URLSearchParams(body) })
/** Returns a request with JSON. */
export const json = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
