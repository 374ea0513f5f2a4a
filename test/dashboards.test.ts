import { describe, expect, test } from 'vitest'
import { type Panel, queriesOf, readDashboard } from './backends/dashboard.ts'

describe.each(['pipelines', 'gateway'])('docs/guides/dashboards/%s.json', (name) => {
  const dashboard = readDashboard(name)
  const { panels, templating } = dashboard
  const variables = templating.list.map((each) => each.name)
  const targets = panels.flatMap((panel) => panel.targets)

  test('has the schema of current versions of Grafana', () => {
    expect(dashboard.schemaVersion).toBe(42)
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    expect(queriesOf(dashboard).size).toBe(targets.length)
  })

  test('names data sources by variables only', () => {
    const sources = [...panels, ...targets].map(({ datasource }) => datasource)
    for (const { type, uid } of sources) {
      const variable = templating.list.find((each) => `\${${each.name}}` === uid)
      expect(variable).toMatchObject({ type: 'datasource', query: type })
    }
  })

  test('uses only variables that it has, and those of Grafana', () => {
    const used = JSON.stringify(targets).matchAll(/\$(\w+)/g)
    const own = [...used].map(([, each = '']) => each).filter((each) => !each.startsWith('__'))
    expect(own.filter((each) => !variables.includes(each))).toEqual([])
  })

  test('says what each panel shows', () => {
    expect(panels.filter(({ description }) => !description.endsWith('.'))).toEqual([])
  })

  test('has panels that do not overlap', () => {
    const overlapping = panels.flatMap((a, i) => panels.slice(i + 1).filter((b) => overlap(a, b)))
    expect(overlapping).toEqual([])
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })
})

function overlap({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}
