import { afterAll, beforeAll } from 'vitest'
import { freePort } from '../collector/free-port.ts'
import { describeWithPrograms, type NeededProgram } from '../collector/program-suite.ts'
import { neededForContainers, requireFresh, UnpackedImage } from './container.ts'
import { packFiles } from './installed.ts'
import type { RunningService } from './tour.ts'

/** The secrets with which the tests start a service for the first time. */
export const firstSecrets = { apiKey: 'the-key-of-this-very-test', rootToken: 'root-token-of-this-very-test' }

/**
 * Describes a suite that needs the image of this build and the programs in `more`. It is skipped without them; see
 * `describeWithPrograms`.
 */
export function describeWithImage(
  name: string,
  more: readonly NeededProgram[],
  suite: (image: () => UnpackedImage) => void,
): void {
  describeWithPrograms(name, [...neededForContainers, ...more], () => {
    let image: UnpackedImage | undefined
    beforeAll(() => {
      using packed = packFiles()
      requireFresh(packed.tarball('penstock'))
      image = new UnpackedImage()
    })
    afterAll(() => image?.[Symbol.dispose]())
    suite(() => image!)
  })
}

/** Returns settings that listen on free loopback ports, and the addresses and secrets of a service with these settings. */
export async function onFreePorts(): Promise<{ listen: Readonly<Record<string, string>>; service: RunningService }> {
  const [core, management, otlpHttp, otlpGrpc] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  return {
    listen: {
      PENSTOCK_CORE_LISTEN: `127.0.0.1:${core}`,
      PENSTOCK_OBS_LISTEN: `127.0.0.1:${management}`,
      PENSTOCK_OTLP_HTTP_LISTEN: `127.0.0.1:${otlpHttp}`,
      PENSTOCK_OTLP_GRPC_LISTEN: `127.0.0.1:${otlpGrpc}`,
    },
    service: {
      managementUrl: `http://127.0.0.1:${management}`,
      otlpUrl: `http://127.0.0.1:${otlpHttp}`,
      coreUrl: `http://127.0.0.1:${core}`,
      ...firstSecrets,
    },
  }
}
