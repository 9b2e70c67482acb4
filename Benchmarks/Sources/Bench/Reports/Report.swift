import Foundation

/// Everything one run found, in the form of its JSON.
struct Report: Codable {
  var floors: [Floor] = []
  var peers: [Peer] = []
  var machine: Machine

  /// Readable JSON with sorted keys.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try encoder.encode(self)
  }
}
