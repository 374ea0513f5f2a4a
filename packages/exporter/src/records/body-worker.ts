import { serveTasks } from '@penstock/runtime'
import { bodyParts } from './body-parts.ts'

serveTasks(bodyParts)
