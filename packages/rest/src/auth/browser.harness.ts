const SIGN_IN = '/users/sign_in'

/** A browser that keeps the cookie and reads the hidden fields of forms. */
export class Browser {
  readonly #baseUrl: () => string
  cookie: string | undefined

  constructor(baseUrl: () => string) {
    this.#baseUrl = baseUrl
  }

  async get(path: string): Promise<Shown> {
    return this.#send(path, { method: 'GET' })
  }

  async post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Shown> {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(fields), headers })
  }

  /** Submits the form of a page, including its hidden fields. */
  async submit(page: Shown, path: string, fields: Record<string, string>): Promise<Shown> {
    return this.post(path, { ...page.hidden, ...fields })
  }

  async signIn(changes: Record<string, string> = {}): Promise<Shown> {
    return this.submit(await this.get(SIGN_IN), SIGN_IN, { login: 'mira', password: 'correct horse 1', ...changes })
  }

  async #send(path: string, init: RequestInit): Promise<Shown> {
    const headers = { ...init.headers, ...(this.cookie !== undefined && { Cookie: this.cookie }) }
    const response = await fetch(this.#baseUrl() + path, { ...init, headers, redirect: 'manual' })
    const setCookie = response.headers.get('set-cookie')
    if (setCookie !== null) this.cookie = setCookie.split(';')[0]!
    const text = await response.text()
    const fields = text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g)
    const hidden = Object.fromEntries([...fields].map(([, name, value]) => [name!, unescaped(value!)]))
    const location = response.headers.get('location') ?? undefined
    return { status: response.status, headers: response.headers, location, setCookie, text, hidden }
  }
}

/** A page, or a redirect to one. */
export interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly location: string | undefined
  readonly setCookie: string | null
  readonly text: string
  readonly hidden: Record<string, string>
}

const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
