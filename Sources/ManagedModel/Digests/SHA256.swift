/// The SHA-256 hash function (FIPS 180-4); CryptoKit isn't available on Linux.
package enum SHA256 {
  private static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
    0xab1c_5ed5, 0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe,
    0x9bdc_06a7, 0xc19b_f174, 0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f,
    0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da, 0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7,
    0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967, 0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc,
    0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85, 0xa2bf_e8a1, 0xa81a_664b,
    0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070, 0x19a4_c116,
    0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
    0xc671_78f2,
  ]

  private static let initialState: [UInt32] = [
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19,
  ]

  /// Returns the 32-byte digest of a message.
  package static func hash(_ bytes: [UInt8]) -> [UInt8] {
    let zeros = (119 - bytes.count % 64) % 64
    var message: [UInt8] = []
    message.reserveCapacity(bytes.count + zeros + 9)
    message += bytes
    message.append(0x80)
    for _ in 0..<zeros { message.append(0) }
    append(UInt64(bytes.count) * 8, to: &message)
    var state = initialState
    // The message schedule of a block is reused for all of them.
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
      words.initialize(repeating: 0)
      for start in stride(from: 0, to: message.count, by: 64) {
        schedule(message, from: start, in: words)
        compress(words, into: &state)
      }
    }
    var hash: [UInt8] = []
    hash.reserveCapacity(32)
    for pair in stride(from: 0, to: 8, by: 2) {
      append(UInt64(state[pair]) << 32 | UInt64(state[pair + 1]), to: &hash)
    }
    return hash
  }

  private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    for index in 0..<8 {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * index)))
    }
  }

  /// Fills the message schedule of the block that starts at a byte.
  private static func schedule(
    _ message: [UInt8], from start: Int, in words: UnsafeMutableBufferPointer<UInt32>
  ) {
    for index in 0..<16 {
      let byte = start + 4 * index
      words[index] =
        UInt32(message[byte]) << 24 | UInt32(message[byte + 1]) << 16
        | UInt32(message[byte + 2]) << 8 | UInt32(message[byte + 3])
    }
    for index in 16..<64 {
      let near = words[index - 2]
      let far = words[index - 15]
      let smallSigma1 = rotateRight(near, 17) ^ rotateRight(near, 19) ^ near >> 10
      let smallSigma0 = rotateRight(far, 7) ^ rotateRight(far, 18) ^ far >> 3
      words[index] = words[index - 16] &+ smallSigma0 &+ words[index - 7] &+ smallSigma1
    }
  }

  /// Adds a block, as its message schedule, to the state.
  private static func compress(
    _ words: UnsafeMutableBufferPointer<UInt32>, into state: inout [UInt32]
  ) {
    // The working variables have the standard's names.
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    constants.withUnsafeBufferPointer { constants in
      for index in 0..<64 {
        let choice = (e & f) ^ (~e & g)
        let majority = (a & b) ^ (a & c) ^ (b & c)
        let bigSigma1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25)
        let bigSigma0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22)
        let sum = h &+ bigSigma1 &+ choice &+ constants[index] &+ words[index]
        (h, g, f, e) = (g, f, e, d &+ sum)
        (d, c, b, a) = (c, b, a, sum &+ bigSigma0 &+ majority)
      }
    }
    state[0] &+= a
    state[1] &+= b
    state[2] &+= c
    state[3] &+= d
    state[4] &+= e
    state[5] &+= f
    state[6] &+= g
    state[7] &+= h
  }

  private static func rotateRight(_ word: UInt32, _ count: UInt32) -> UInt32 {
    word &>> count | word &<< (32 &- count)
  }
}
