import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { killWhenWeEnd } from '../collector/child-program.ts'
import { freePort } from '../collector/free-port.ts'
import { Sink } from '../command-line.ts'
import { until } from '../gateway/until.ts'
import { type Manifest, programs } from './helm.ts'

const TOKEN = 'the-token-of-this-cluster'

/** The paths of the collections of a namespace in the Kubernetes API, by the kind of their objects. */
const collections: Readonly<Record<string, string>> = {
  Deployment: 'apis/apps/v1/namespaces/NAMESPACE/deployments',
  HorizontalPodAutoscaler: 'apis/autoscaling/v2/namespaces/NAMESPACE/horizontalpodautoscalers',
  NetworkPolicy: 'apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies',
  PersistentVolumeClaim: 'api/v1/namespaces/NAMESPACE/persistentvolumeclaims',
  PodDisruptionBudget: 'apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets',
  Secret: 'api/v1/namespaces/NAMESPACE/secrets',
  Service: 'api/v1/namespaces/NAMESPACE/services',
  ServiceAccount: 'api/v1/namespaces/NAMESPACE/serviceaccounts',
}

// biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the answers
type Json = any

/** An object to be created: one of the chart, or a Secret. */
type NewObject = Pick<Manifest, 'apiVersion' | 'kind'> & {
  readonly metadata: object
  readonly spec?: unknown
  readonly stringData?: Readonly<Record<string, string>>
}

/** A cluster without controllers and nodes: the API server, which validates objects and fills in defaults, and etcd, its database. */
export class ControlPlane implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'penstock-cluster-'))
  readonly #children: ChildProcess[] = []
  readonly #log = new Sink()
  #port = 0

  /** Starts etcd and the API server, and waits until it is ready. @throws {Error} with the end of their logs */
  static async start(): Promise<ControlPlane> {
    const plane = new ControlPlane()
    try {
      await plane.#start()
      return plane
    } catch (error) {
      await plane[Symbol.asyncDispose]()
      throw new Error(`${(error as Error).message}: ${plane.#log.text.slice(-2_000)}`)
    }
  }

  async #start(): Promise<void> {
    const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
    const at = (name: string) => join(this.#directory, name)
    this.#port = await freePort()
    execFileSync('openssl', ['genrsa', '-out', at('key'), '2048'], { stdio: 'pipe' })
    writeFileSync(at('tokens'), `${TOKEN},admin,admin,"system:masters"\n`)
    this.#spawn(programs.etcd, {
      ...{ 'data-dir': at('etcd'), 'unsafe-no-fsync': 'true', 'log-level': 'error' },
      ...{ 'listen-client-urls': clients, 'advertise-client-urls': clients, 'listen-peer-urls': peers },
    })
    this.#spawn(programs.apiserver, {
      ...{
        'etcd-servers': clients,
        'bind-address': '127.0.0.1',
        'secure-port': String(this.#port),
        'cert-dir': at('certificates'),
      },
      ...{ 'token-auth-file': at('tokens'), 'authorization-mode': 'RBAC', 'service-cluster-ip-range': '10.0.0.0/24' },
      'service-account-issuer': 'https://kubernetes.test',
      ...{ 'service-account-key-file': at('key'), 'service-account-signing-key-file': at('key') },
      // The plugin requires an account that a controller would create.
      'disable-admission-plugins': 'ServiceAccount',
    })
    const isReady = () =>
      this.#call('GET', 'readyz').then(
        ({ status }) => status === 200,
        () => false,
      )
    await until('the API server is ready', isReady, 90_000)
  }

  #spawn(program: string, flags: Readonly<Record<string, string>>): void {
    const child = spawn(
      program,
      Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
      {
        cwd: this.#directory,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    killWhenWeEnd(child)
    child.stderr!.pipe(this.#log, { end: false })
    this.#children.push(child)
  }

  /** Returns the arguments with which helm uses this cluster. */
  get helmArguments(): string[] {
    return [
      `--kube-apiserver=https://127.0.0.1:${this.#port}`,
      `--kube-token=${TOKEN}`,
      '--kube-insecure-skip-tls-verify',
    ]
  }

  /** Returns an object as the API server has stored it, or the error document of the API server. */
  async get(namespace: string, kind: string, name: string): Promise<Json> {
    return (await this.#call('GET', `${pathOf(kind, namespace)}/${name}`)).json
  }

  /** Asks the API server to create an object, and returns its answer. It rejects unknown fields. With `dryRun` it stores nothing. */
  async create(
    namespace: string,
    manifest: NewObject,
    { dryRun = false } = {},
  ): Promise<{ status: number; json: Json }> {
    return this.#call(
      'POST',
      `${pathOf(manifest.kind, namespace)}?fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`,
      manifest,
    )
  }

  async createNamespace(name: string): Promise<void> {
    await this.#call('POST', 'api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }

  async #call(method: string, path: string, body?: object): Promise<{ status: number; json: Json }> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    // The certificate of the API server is self-signed.
    const options = {
      method,
      headers,
      rejectUnauthorized: false,
      host: '127.0.0.1',
      port: this.#port,
      path: `/${path}`,
    }
    const sent = request(options).end(body && JSON.stringify(body))
    const [response] = await once(sent, 'response')
    const text = (await response.setEncoding('utf8').toArray()).join('')
    return { status: response.statusCode, json: text.startsWith('{') ? JSON.parse(text) : text }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode === null) child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function pathOf(kind: string, namespace: string): string {
  const path = collections[kind]
  if (path === undefined) throw new Error(`the test does not know where Kubernetes has objects of the kind ${kind}`)
  return path.replace('NAMESPACE', namespace)
}
