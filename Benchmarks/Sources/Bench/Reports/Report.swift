import Foundation

/// The results of a run.
///
/// The property names are the JSON keys.
struct Report: Codable {
  var floors: [Floor] = []
  var peers: [Peer] = []
  var machine: Machine

  /// Returns pretty-printed JSON with sorted keys.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return try encoder.encode(self)
  }
}
