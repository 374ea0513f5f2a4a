/** Returns 2, 3 or 4 seconds, for an answer that must state a wait although upstream did not (P-13). */
export function retryAfterSeconds(random: () => number): number {
  return 2 + Math.floor(random() * 3)
}
