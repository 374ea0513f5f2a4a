import { chmodSync, chownSync, copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../collector/free-port.ts'
import { Container, type Mount, type UnpackedImage } from './container.ts'
import type { Manifest } from './helm.ts'

/** An HTTP probe of a container. */
interface HttpProbe {
  readonly httpGet: { readonly path: string; readonly port: string }
  readonly periodSeconds: number
  readonly timeoutSeconds?: number
  readonly failureThreshold: number
}

/** The image, the volumes and the Services that the pods of a test share. */
export interface Cluster {
  readonly image: UnpackedImage
  /** The directory with the files of the Secret. */
  readonly secretFiles: string
  /** The directory of a persistent volume, by the name of its claim. */
  readonly claims: Readonly<Record<string, string>>
  /** The URL that replaces each URL of a Service in the environment of a pod, because there is no cluster DNS. */
  readonly services: Readonly<Record<string, string>>
}

/**
 * One pod of a Deployment, started as kubelet does: with the owner and the mode of each volume, the security context and the
 * probes. Unlike in a cluster, it has the network of the host, so each port is replaced by a free one.
 */
export class Pod implements AsyncDisposable {
  readonly container: Container
  readonly #ports: Readonly<Record<string, number>>
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of Kubernetes check the shape
  readonly #spec: any

  private constructor(container: Container, ports: Readonly<Record<string, number>>, spec: unknown) {
    this.container = container
    this.#ports = ports
    this.#spec = spec
  }

  static async start(deployment: Manifest, name: string, cluster: Cluster): Promise<Pod> {
    const { spec } = deployment.spec.template
    const [described, ...others] = spec.containers
    if (others.length > 0 || spec.initContainers !== undefined)
      throw new Error('the test starts pods with one container')
    const { securityContext: security } = described
    const { runAsUser: uid, runAsGroup: gid, fsGroup } = spec.securityContext
    if (spec.securityContext.runAsNonRoot !== true || uid === 0) throw new Error('kubelet would refuse the user root')
    const mounts: Mount[] = described.volumeMounts.map(
      (mount: { name: string; mountPath: string; readOnly?: boolean }) => {
        const volume = spec.volumes.find((each: { name: string }) => each.name === mount.name)
        return {
          source: sourceOf(volume, `${name}-${mount.name}`, fsGroup, cluster),
          target: mount.mountPath,
          readOnly: mount.readOnly ?? false,
        }
      },
    )
    const ports: Record<string, number> = {}
    const addresses = new Map<string, string>()
    for (const { name: port, containerPort } of described.ports) {
      ports[port] = await freePort()
      addresses.set(`0.0.0.0:${containerPort}`, `127.0.0.1:${ports[port]}`)
    }
    const own = described.env.map((row: { name: string; value: string }) => [row.name, row.value])
    const fromImage = cluster.image.config.Env.map((line) => line.split(/=(.*)/s).slice(0, 2))
    const env = Object.fromEntries(
      [...fromImage, ...own].map(([key, value]) => [key, addresses.get(value) ?? cluster.services[value] ?? value]),
    )
    // Other pods of the test may use a port that this pod listens on without declaring it.
    for (const [key, value] of Object.entries(env)) {
      if (/^0\.0\.0\.0:\d+$/.test(value as string)) env[key] = `127.0.0.1:${await freePort()}`
    }
    const container = new Container(cluster.image, {
      command: described.args,
      env,
      user: { uid, gid, groups: [fsGroup] },
      readOnlyRoot: security.readOnlyRootFilesystem,
      noNewPrivileges: security.allowPrivilegeEscalation === false,
      capabilities: security.capabilities.drop.includes('ALL') ? [] : ['CAP_NET_BIND_SERVICE', 'CAP_CHOWN'],
      memoryBytes: bytesOf(described.resources.limits.memory),
      mounts,
    })
    return new Pod(container, ports, spec)
  }

  /** Returns the URL of a declared port. */
  url(port: string): string {
    return `http://127.0.0.1:${this.#ports[port]}`
  }

  /**
   * Waits until the probes succeed, in the order, with the periods and with the thresholds of kubelet.
   *
   * @throws {Error} if the startup or the liveness probe fails too often, or the pod does not become ready
   */
  async ready(): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#spec.containers[0]
    for (const probe of [startupProbe, livenessProbe, readinessProbe] as HttpProbe[]) {
      let failures = 0
      while (!(await this.#passes(probe))) {
        failures += 1
        if (failures >= probe.failureThreshold && probe !== readinessProbe)
          throw new Error(`${probe.httpGet.path} failed: ${this.container.stderr.text}`)
        if (failures > 60) throw new Error(`the pod does not become ready: ${this.container.stderr.text}`)
        await sleep(probe.periodSeconds * 1_000)
      }
    }
  }

  async isReady(): Promise<boolean> {
    return this.#passes(this.#spec.containers[0].readinessProbe)
  }

  /** Ends the pod, and returns its exit code and whether it ended within its grace period. */
  async end(): Promise<{ exitCode: number | null; inTime: boolean }> {
    const startMs = performance.now()
    const exitCode = await this.container.end()
    return { exitCode, inTime: performance.now() - startMs < this.#spec.terminationGracePeriodSeconds * 1_000 }
  }

  async #passes({ httpGet, timeoutSeconds = 1 }: HttpProbe): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutSeconds * 1_000)
    return fetch(`${this.url(httpGet.port)}${httpGet.path}`, { signal }).then(
      ({ status }) => status >= 200 && status < 400,
      () => false,
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.container[Symbol.asyncDispose]()
  }
}

interface Volume {
  readonly emptyDir?: object
  readonly secret?: {
    readonly items: readonly { readonly key: string; readonly path: string }[]
    readonly defaultMode: number
  }
  readonly persistentVolumeClaim?: { readonly claimName: string }
}

/**
 * Returns a directory with the owner, group and mode that kubelet gives to a volume: it belongs to root and the group of the pod,
 * and every user can write to an empty one. A claim is one of the given directories.
 */
function sourceOf(volume: Volume, name: string, fsGroup: number, { image, secretFiles, claims }: Cluster): string {
  if (volume.persistentVolumeClaim !== undefined) {
    const claim = claims[volume.persistentVolumeClaim.claimName]
    if (claim === undefined) throw new Error(`there is no claim ${volume.persistentVolumeClaim.claimName}`)
    return claim
  }
  const directory = image.volume(name, 0, fsGroup)
  if (volume.emptyDir !== undefined) {
    chmodSync(directory, 0o2777)
  } else if (volume.secret !== undefined) {
    for (const { key, path } of volume.secret.items) {
      if (!readdirSync(secretFiles).includes(key)) throw new Error(`the Secret has no ${key}`)
      copyFileSync(join(secretFiles, key), join(directory, path))
      chownSync(join(directory, path), 0, fsGroup)
      chmodSync(join(directory, path), volume.secret.defaultMode)
    }
    chmodSync(directory, 0o2755)
  } else {
    throw new Error(`kubelet would not know the volume ${name}`)
  }
  return directory
}

/** Returns a directory with the owner, group and mode of a new persistent volume. */
export function claimedVolume(image: UnpackedImage, name: string, fsGroup: number): string {
  const directory = image.volume(name, 0, fsGroup)
  chmodSync(directory, 0o2775)
  return directory
}

function bytesOf(quantity: string): number {
  const [, amount, unit] = /^(\d+)(Mi|Gi)$/.exec(quantity)!
  return Number(amount) * (unit === 'Gi' ? 1 << 30 : 1 << 20)
}
