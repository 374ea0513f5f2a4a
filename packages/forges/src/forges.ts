import { azure } from './azure/azure.ts'
import { bitbucket } from './bitbucket/bitbucket.ts'
import { buildkite } from './buildkite/buildkite.ts'
import { cdevents } from './cdevents/cdevents.ts'
import { circleci } from './circleci/circleci.ts'
import { drone } from './drone/drone.ts'
import type { Forge } from './forge/forge.ts'
import { forgejo } from './forgejo/forgejo.ts'
import { gitea } from './gitea/gitea.ts'
import { github } from './github/github.ts'
import { gitlab } from './gitlab/gitlab.ts'
import { jenkins } from './jenkins/jenkins.ts'
import { penstock } from './penstock/penstock.ts'
import { woodpecker } from './woodpecker/woodpecker.ts'

/** All forges, by the word for them in settings. To add one, see docs/contributing/adding-a-forge.md. */
export const forges = {
  gitlab,
  github,
  gitea,
  forgejo,
  circleci,
  buildkite,
  azure,
  bitbucket,
  woodpecker,
  drone,
  jenkins,
  penstock,
  cdevents,
} as const satisfies Readonly<Record<string, Forge>>

export type ForgeName = keyof typeof forges
export const forgeNames = Object.keys(forges) as readonly ForgeName[]
