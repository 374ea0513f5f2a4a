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

/** The paths below which the API server has the objects of a namespace, by their kind. */
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

/** An object that is created: one of the chart, or a Secret. */
type NewObject = Pick<Manifest, 'apiVersion' | 'kind'> & {
  readonly metadata: object
  readonly spec?: unknown
  readonly stringData?: Readonly<Record<string, string>>
}

/** The control plane of a cluster without controllers and nodes: the API server, which validates and completes objects, and etcd. */
export class ControlPlane implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'penstock-cluster-'))
  readonly #children: ChildProcess[] = []
  readonly #log = new Sink()
  #port = 0

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
      // A controller would make the account that this plugin wants.
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

  /** The arguments with which helm uses this cluster. */
  get helmArguments(): string[] {
    return [
      `--kube-apiserver=https://127.0.0.1:${this.#port}`,
      `--kube-token=${TOKEN}`,
      '--kube-insecure-skip-tls-verify',
    ]
  }

  /** Returns the objects of a kind, as the API server has stored them. */
  async list(namespace: string, kind: string): Promise<Manifest[]> {
    const { json } = await this.#call('GET', pathOf(kind, namespace))
    return json.items
  }

  /** Returns an object. */
  async get(namespace: string, kind: string, name: string): Promise<Json> {
    return (await this.#call('GET', `${pathOf(kind, namespace)}/${name}`)).json
  }

  /** Creates an object, or tries to. Returns the answer; a field that Kubernetes does not know is refused. */
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
    // Its certificate is signed by itself.
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
