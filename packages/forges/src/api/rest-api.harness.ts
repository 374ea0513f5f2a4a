import type { JsonObject } from '../body/fields.ts'
import type { ApiAnswer, Ask } from './rest-api.ts'

/** The answers of an API by path. A list answers with one item per page. */
export type Answers = Readonly<Record<string, unknown>>

/** An API with fixed answers. Other paths answer 404. */
export class FixedApi {
  readonly asked: string[] = []
  readonly #answers: Answers

  constructor(answers: Answers) {
    this.#answers = answers
  }

  readonly ask: Ask = async ({ path, query = {} }) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    this.asked.push(given.length === 0 ? path : `${path}?${given.map(([name, value]) => `${name}=${value}`).join('&')}`)
    if (!Object.hasOwn(this.#answers, path)) return undefined
    const answer = this.#answers[path]
    return typeof answer === 'function' ? answer(query) : reply(answer)
  }
}

export const reply = (body: unknown, headers: Readonly<Record<string, string>> = {}): ApiAnswer => ({
  body,
  headers,
  bytes: 1,
})

/** Returns the answer with a page of one item of a list, and a link to the next page. */
export const onePerPage =
  (member: string, items: readonly unknown[]) =>
  ({ page }: JsonObject): ApiAnswer =>
    reply(
      { total_count: items.length, [member]: items.slice(Number(page) - 1, Number(page)) },
      { link: Number(page) < items.length ? '<https://forge.example/?page=2>; rel="next"' : '' },
    )
