const placeholder = /\{([A-Za-z]+[0-9]*(?:[._-][A-Za-z0-9]+)*|[A-Za-z_][A-Za-z0-9_]*)\}/g

/** The maximum number of UTF-16 units of a URL with its placeholders, and of one without. */
export const MAX_URL = 2_048
const MAX_EXPANDED_URL = 65_536

/** The values of placeholders by their key. */
export type UrlVariables = Readonly<Record<string, string>>

/** Returns the keys of the placeholders in a URL. */
export const placeholdersIn = (url: string): string[] => [
  ...new Set([...url.matchAll(placeholder)].map(([, key]) => key!)),
]

/** Returns the URL with the values of its variables, or `undefined` if a placeholder has none. */
export function expandUrl(url: string, variables: UrlVariables): string | undefined {
  if (placeholdersIn(url).some((key) => !Object.hasOwn(variables, key))) return undefined
  return url.replaceAll(placeholder, (_, key: string) => variables[key]!)
}

/** A URL with its credentials apart, as requests need it. */
interface HookTarget {
  /** Without credentials. */
  readonly url: URL
  /** The value of `Authorization` for the credentials in the URL. */
  readonly authorization: string | undefined
}

/**
 * Returns the target that a URL represents, or `undefined` if it is not one of http or https with a usable host. Line
 * breaks and tabs are rejected, because parsers of URLs ignore them.
 */
export function targetOf(text: string): HookTarget | undefined {
  if (text.length > MAX_EXPANDED_URL || !/^https?:\/\/[^/\\]/i.test(text) || hasControlCharacter(text)) return undefined
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (!/^[a-z0-9[]/i.test(url.hostname)) return undefined
  const { username, password } = url
  const credentials = [username, password].map(percentDecoded)
  url.username = ''
  url.password = ''
  url.hash = ''
  const isOpen = username === '' && password === ''
  return {
    url,
    authorization: isOpen ? undefined : `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters would end a line of the request
const hasControlCharacter = (text: string): boolean => /[\u0000-\u0020\u007f]/.test(text.trim()) || text !== text.trim()

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Returns the URL with placeholders in place of its credentials, for the event log. */
export const withoutCredentials = (url: string): string =>
  url.replace(/^(https?:\/\/)[^/?#\\]*@/i, (_, scheme: string) => `${scheme}*****:*****@`)
