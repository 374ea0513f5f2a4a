import { EOS, huffmanCodeLengths } from './huffman-code.ts'

/** The result of `decodeHuffman` for a string that does not end with up to 7 of the first bits of EOS. */
export const INVALID_PADDING = -1

/** The result of `decodeHuffman` for a string that contains EOS. */
export const CONTAINS_EOS = -2

/** The length of the shortest code. */
const MIN_CODE_BITS = 5
/** The length of EOS, which is the longest code. */
const EOS_BITS = 30
const MAX_PADDING_BITS = 7

/** The number of states, one for each inner node of the code's tree. */
const STATES = 256
/** The state after EOS. All its transitions lead back to it. */
const AFTER_EOS = STATES

/**
 * A transition of the automaton that reads four bits at a time. It is an integer:
 *
 *     bit  0-7   the symbol that the four bits complete; at most one, because each code has at least 5 bits
 *     bit  8     whether they complete a symbol
 *     bit 12-24  the index of the next state's first transition, which is 16 times the state
 */
const EMITS = 8
const NEXT = 12

/** Returns the size of an output buffer that is large enough for each Huffman string of `bytes` bytes. */
export function maxHuffmanOutputBytes(bytes: number): number {
  // One more, because each transition writes a byte, and the next one overwrites it unless it completed a symbol.
  return Math.floor((bytes * 8) / MIN_CODE_BITS) + 1
}

let transitions: Int32Array | undefined

/**
 * Decodes a Huffman string (RFC 7541, section 5.2) into `output`, which has at least `maxHuffmanOutputBytes` bytes. Returns the number
 * of bytes written, or `INVALID_PADDING` or `CONTAINS_EOS`.
 */
export function decodeHuffman(bytes: Uint8Array, start: number, end: number, output: Uint8Array): number {
  transitions ??= buildTransitions()
  const table = transitions
  let written = 0
  let next = 0
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at]!
    const high = table[next + (byte >> 4)]!
    output[written] = high
    written += (high >> EMITS) & 1
    const low = table[(high >> NEXT) + (byte & 0xf)]!
    output[written] = low
    written += (low >> EMITS) & 1
    next = low >> NEXT
  }
  const state = next >> 4
  // The states up to `EOS_BITS` are those after as many bits of EOS and nothing else.
  if (state <= MAX_PADDING_BITS) return written
  return state === AFTER_EOS ? CONTAINS_EOS : INVALID_PADDING
}

function buildTransitions(): Int32Array {
  const children = buildTree()
  const table = new Int32Array((STATES + 1) * 16)
  for (let state = 0; state < STATES; state += 1) {
    for (let nibble = 0; nibble < 16; nibble += 1) {
      table[state * 16 + nibble] = transitionOf(children, state, nibble)
    }
  }
  table.fill((AFTER_EOS * 16) << NEXT, AFTER_EOS * 16)
  return table
}

function transitionOf(children: Int32Array, state: number, nibble: number): number {
  let node = state
  let emitted = 0
  for (let bit = 3; bit >= 0; bit -= 1) {
    const child = children[node * 2 + ((nibble >> bit) & 1)]!
    if (child >= 0) {
      node = child
      continue
    }
    const symbol = ~child
    if (symbol === EOS) return (AFTER_EOS * 16) << NEXT
    emitted = (1 << EMITS) | symbol
    node = 0
  }
  return ((node * 16) << NEXT) | emitted
}

/**
 * Returns the two children of each inner node of the code's tree: the number of an inner node, or `~symbol`. Node 0 is the root, and
 * the nodes up to 29 are those on the way to EOS, which consists of ones, so that a node's number shows whether it may end a string.
 */
function buildTree(): Int32Array {
  const children = new Int32Array(STATES * 2)
  for (let node = 0; node < EOS_BITS - 1; node += 1) children[node * 2 + 1] = node + 1
  let nodes = EOS_BITS
  let code = 0
  for (let length = MIN_CODE_BITS; length <= EOS_BITS; length += 1) {
    for (let symbol = 0; symbol <= EOS; symbol += 1) {
      if (huffmanCodeLengths[symbol] !== length) continue
      let node = 0
      for (let bit = length - 1; bit > 0; bit -= 1) {
        const slot = node * 2 + ((code >> bit) & 1)
        // 0 is an empty slot, because the root is not a child.
        if (children[slot] === 0) {
          children[slot] = nodes
          nodes += 1
        }
        node = children[slot]!
      }
      children[node * 2 + (code & 1)] = ~symbol
      code += 1
    }
    code <<= 1
  }
  return children
}
