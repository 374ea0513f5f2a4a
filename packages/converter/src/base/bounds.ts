/** Inclusive upper bounds in seconds. The forge's own export uses `native`, so that its histograms can be merged with ours. */
export const boundsProfiles = {
  native: [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600],
  fine: [1, 2, 5, 10, 15, 30, 60, 120, 180, 300, 450, 600, 900, 1_200, 1_800, 2_700, 3_600, 5_400, 7_200, 14_400],
} as const

export function resolveBounds(bounds: keyof typeof boundsProfiles | readonly number[]): readonly number[] {
  return typeof bounds === 'string' ? boundsProfiles[bounds] : bounds
}
