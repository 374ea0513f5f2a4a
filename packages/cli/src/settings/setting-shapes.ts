import { EndpointError, parseHeaderList, type RequestHeaders } from '@penstock/exporter'
import { allowedOriginPattern, canBeApiKey, type ListenAddress, type UpstreamConfig } from '@penstock/gateway'
import { parseSmtpUrl, type SmtpServer } from '@penstock/mail'
import { type ClickHouseAddress, parseClickHouseUrl } from '@penstock/observe'
import { TrustedProxies } from '@penstock/runtime'

/** The parser for one kind of value, with a description of its form for error messages. */
export interface Shape<Value> {
  /** A noun phrase that follows "must be". */
  readonly form: string
  /** Returns the value of a text; `undefined` if the text does not have this form. */
  parse(text: string): Value | undefined
}

export const text: Shape<string> = { form: 'a non-empty text', parse: (value) => value || undefined }

export const adminKey: Shape<string> = {
  form: '20 to 256 printable characters, and not an ingest token',
  parse: (value) => (canBeApiKey(value) ? value : undefined),
}

export const rootToken: Shape<string> = {
  form: '20 to 256 printable characters',
  parse: (value) => (/^[\x21-\x7e]{20,256}$/.test(value) ? value : undefined),
}

export const tokenPrefix: Shape<string> = {
  form: '1 to 20 letters, digits and _+=/@:.-',
  parse: (value) => (/^[a-zA-Z0-9_+=/@:.-]{1,20}$/.test(value) ? value : undefined),
}

/** May contain a password, so error messages never show the value. */
export const databaseUrl: Shape<string> = {
  form: 'a URL that starts with postgres:// or postgresql://',
  parse: (value) => (/^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value) ? value : undefined),
}

/** May contain a password, so error messages never show the value. */
export const clickHouseUrl: Shape<ClickHouseAddress> = {
  form: 'clickhouse://, http:// or https:// with a host, and at most a user, a password, a port and the name of a database',
  parse: parseClickHouseUrl,
}

/** May contain a password, so error messages never show the value. */
export const smtpUrl: Shape<SmtpServer> = {
  form: 'smtp:// or smtps:// with a host, and nothing after the port',
  parse: parseSmtpUrl,
}

/** Contains credentials, so error messages never show the value. */
export const headerList: Shape<RequestHeaders> = {
  form: 'name=value,name=value with percent-encoded values, and without headers that the request sets itself',
  parse(value) {
    try {
      return parseHeaderList(value)
    } catch (error) {
      if (error instanceof EndpointError) return undefined
      throw error
    }
  },
}

export const mailAddress: Shape<string> = {
  form: 'an e-mail address such as penstock@example.com',
  parse: (value) => (/^[\w.+-]{1,64}@[\w.-]{1,253}$/.test(value) ? value : undefined),
}

export const serviceName: Shape<string> = {
  form: 'a word of small letters and digits that begins with a letter',
  parse: (value) => (/^[a-z][a-z0-9]{0,30}$/.test(value) ? value : undefined),
}

export const address: Shape<ListenAddress> = {
  form: 'host:port, as in 127.0.0.1:4318 or [::1]:4318',
  parse: (value) => {
    const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(value)
    const port = Number(parts?.[3])
    return parts && port <= 65_535 ? { host: (parts[1] ?? parts[2])!, port } : undefined
  },
}

export const addresses: Shape<readonly ListenAddress[]> = {
  form: 'a comma-separated list of host:port',
  parse: (value) => {
    const all = words.parse(value)!.map((part) => address.parse(part))
    return all.every((one) => one !== undefined) ? all : undefined
  },
}

export const flag: Shape<boolean> = {
  form: 'true or false',
  parse: (value) => ({ true: true, false: false })[value],
}

export const words: Shape<readonly string[]> = {
  form: 'a comma-separated list of words',
  parse: (value) =>
    value
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
}

export const networks: Shape<readonly string[]> = {
  form: 'a comma-separated list of addresses or networks such as 10.0.0.0/8',
  parse: (value) => {
    const given = words.parse(value)!
    try {
      new TrustedProxies(given)
      return given
    } catch {
      return undefined
    }
  },
}

export function choice<const Choice extends string>(...choices: readonly Choice[]): Shape<Choice> {
  return { form: `one of ${choices.join(', ')}`, parse: (value) => choices.find((known) => known === value) }
}

export function choices<const Choice extends string>(...known: readonly Choice[]): Shape<readonly Choice[]> {
  return {
    form: `a comma-separated list of ${known.join(', ')}`,
    parse: (value) => {
      const given = words.parse(value)!
      return given.every((word) => known.includes(word as Choice)) ? (given as readonly Choice[]) : undefined
    },
  }
}

export function integer(min: number, max: number): Shape<number> {
  return {
    form: `a whole number from ${min} to ${max}`,
    parse: (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      return number >= min && number <= max ? number : undefined
    },
  }
}

/** Values of the header `Origin`. */
export const origins: Shape<readonly string[]> = {
  form: 'a comma-separated list of origins such as https://app.example.com, https://*.example.com or *',
  parse: (value) => {
    const given = words.parse(value)!.map((origin) => origin.toLowerCase())
    return given.every((origin) => origin === '*' || allowedOriginPattern.test(origin)) ? given : undefined
  },
}

/** An OTLP base URL with one of the schemes. It may contain a password, so error messages never show the value. */
export function url(...schemes: readonly string[]): Shape<string> {
  return {
    form: `a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}, without user name, ? and #`,
    parse: (value) => {
      const parsed = URL.canParse(value) ? new URL(value) : undefined
      if (!parsed || !schemes.includes(parsed.protocol.slice(0, -1))) return undefined
      return parsed.username || parsed.password || parsed.search || parsed.hash ? undefined : value
    },
  }
}

/** A JSON object with values of one shape. */
export function mapOf<Value>(inner: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return {
    form: `a JSON object with values of the form: ${inner.form}`,
    parse: (value) => {
      const object = parseObject(value)
      const entries = object && Object.entries(object).map(([key, entry]) => [key, inner.parse(String(entry))] as const)
      return entries?.every(([, entry]) => entry !== undefined)
        ? (Object.fromEntries(entries) as Record<string, Value>)
        : undefined
    },
  }
}

/**
 * A map from tenant to upstream: either a URL, or an object with a URL and a credential. Nothing is inherited from the
 * default upstream.
 */
export function upstreamsByTenant(...schemes: readonly string[]): Shape<Readonly<Record<string, UpstreamConfig>>> {
  const address = url(...schemes)
  return {
    form: `a JSON object with values of the form: ${address.form}; or objects with url, authorization or authorizationFile, and caFile`,
    parse: (value) => {
      const object = parseObject(value)
      const entries =
        object && Object.entries(object).map(([tenant, entry]) => [tenant, upstreamOf(entry, address)] as const)
      return entries?.every(([, upstream]) => upstream !== undefined)
        ? (Object.fromEntries(entries) as Record<string, UpstreamConfig>)
        : undefined
    },
  }
}

function upstreamOf(entry: unknown, address: Shape<string>): UpstreamConfig | undefined {
  if (typeof entry === 'string') return address.parse(entry) === undefined ? undefined : { url: entry }
  if (typeof entry !== 'object' || entry === null) return undefined
  const {
    url: text,
    authorization: header,
    authorizationFile: file,
    caFile,
    ...unknown
  } = entry as Record<string, unknown>
  const texts = [header, file, caFile].every((part) => part === undefined || typeof part === 'string')
  if (typeof text !== 'string' || address.parse(text) === undefined || !texts) return undefined
  if (Object.keys(unknown).length > 0 || (header !== undefined && file !== undefined)) return undefined
  return {
    url: text,
    ...(header !== undefined && { credential: { header: header as string } }),
    ...(file !== undefined && { credential: { file: file as string } }),
    ...(caFile !== undefined && { caFile: caFile as string }),
  }
}

/** Any JSON object; the user of the setting validates its contents. */
export const jsonObject: Shape<Readonly<Record<string, unknown>>> = { form: 'a JSON object', parse: parseObject }

function parseObject(value: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(value)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
