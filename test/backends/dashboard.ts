import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const directory = join(import.meta.dirname, '../../docs/guides/dashboards')

/** A dashboard in Grafana's classic JSON, as far as the tests read it. */
export interface Dashboard {
  readonly title: string
  readonly schemaVersion: number
  readonly templating: { readonly list: readonly Variable[] }
  readonly panels: readonly Panel[]
}

export interface Variable {
  readonly name: string
  readonly type: string
  readonly query: string | { readonly query: string }
  readonly allValue?: string
}

export interface DataSource {
  readonly type: string
  readonly uid: string
}

export interface Panel {
  readonly id: number
  readonly title: string
  readonly description: string
  readonly type: string
  readonly datasource: DataSource
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly Target[]
}

export interface Target {
  readonly refId: string
  readonly datasource: DataSource
  /** PromQL or LogsQL. */
  readonly expr?: string
  /** Whether a query in PromQL is asked once, at the end of the time range. */
  readonly instant?: boolean
  readonly queryType?: string
  /** The parameters of a search in Jaeger. */
  readonly service?: string
  readonly tags?: string
  readonly limit?: number
}

/** Reads a dashboard of docs/guides/dashboards. */
export const readDashboard = (name: string): Dashboard =>
  JSON.parse(readFileSync(join(directory, `${name}.json`), 'utf8'))

/** Returns every query of a dashboard, under the title of its panel and its letter. */
export const queriesOf = ({ panels }: Dashboard): ReadonlyMap<string, Target> =>
  new Map(panels.flatMap((panel) => panel.targets.map((target) => [`${panel.title} ${target.refId}`, target] as const)))

/** Returns a query with its variables replaced, those of Grafana included. Fails if one has no value. */
export function interpolated(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(\w+)/g, (_, name: string) => {
    const value = values[name]
    if (value === undefined) throw new Error(`${text}: $${name} has no value`)
    return value
  })
}
