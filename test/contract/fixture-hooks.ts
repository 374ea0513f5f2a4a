import { caseNames, caseText } from '../fixtures.ts'

/** The last hooks of one fixture, with ids that no other fixture has: on one instance, an id belongs to one pipeline. */
export interface FixtureHooks {
  readonly name: string
  /** The projects that the hooks name, by their paths or URLs; '' means a project without either. */
  readonly projects: readonly string[]
  readonly hooks: readonly FixtureHook[]
}

export interface FixtureHook {
  /** One of `projects`. */
  readonly project: string
  readonly pipelineId: number
  /**
   * Returns the body as the forge sends it if its projects have these names.
   *
   * @param named the projects of the fixture in the form of hooks
   */
  readonly bodyFor: (named: ReadonlyMap<string, object>) => string
}

type Json = Record<string, unknown>

/** More than the ids of a fixture, so that the ids of two fixtures differ. */
const IDS_PER_CASE = 10_000_000_000

/** Returns the pipeline hooks of all fixtures in order of arrival. Bodies of another kind are left out. */
export function fixtureHooks(): FixtureHooks[] {
  return caseNames.flatMap((name, index) => {
    const value: unknown = JSON.parse(caseText(name))
    const bodies = (Array.isArray(value) ? value : [value]).filter(isPipelineHook)
    const hooks = bodies.map((body) => fixtureHook(withOwnIds(body, (index + 1) * IDS_PER_CASE)))
    const projects = [...new Set(hooks.map(({ project }) => project))]
    return hooks.length === 0 ? [] : [{ name, projects, hooks }]
  })
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const isPipelineHook = (body: unknown): body is Json =>
  isObject(body) &&
  isObject(body.object_attributes) &&
  [undefined, null, 'pipeline'].includes(body.object_kind as string)

function fixtureHook(body: Json): FixtureHook {
  return {
    project: projectKey(body.project),
    pipelineId: Number((body.object_attributes as Json).id),
    bodyFor: (named) => {
      const source = isObject(body.source_pipeline) ? body.source_pipeline : undefined
      const from = source && named.get(projectKey(source.project))
      return JSON.stringify(from === undefined ? body : { ...body, source_pipeline: { ...source, project: from } })
    },
  }
}

function projectKey(project: unknown): string {
  if (!isObject(project)) return ''
  return String(project.path_with_namespace ?? project.web_url ?? '')
}

function withOwnIds(body: Json, first: number): Json {
  const shifted = (holder: unknown, names: readonly string[]): unknown =>
    isObject(holder)
      ? { ...holder, ...Object.fromEntries(names.flatMap((name) => own(holder, name))) }
      : Array.isArray(holder)
        ? holder.map((item) => shifted(item, names))
        : holder
  const own = (holder: Json, name: string): [string, number][] => {
    const id = holder[name]
    return typeof id === 'number' && Number.isInteger(id) && id > 0 && id < IDS_PER_CASE ? [[name, id + first]] : []
  }
  return {
    ...body,
    object_attributes: shifted(body.object_attributes, ['id', 'root_pipeline_id']),
    ...('builds' in body && { builds: shifted(body.builds, ['id']) }),
    ...('bridges' in body && { bridges: shifted(body.bridges, ['id']) }),
    ...('source_pipeline' in body && {
      source_pipeline: shifted(body.source_pipeline, ['pipeline_id', 'job_id', 'bridge_id']),
    }),
  }
}
