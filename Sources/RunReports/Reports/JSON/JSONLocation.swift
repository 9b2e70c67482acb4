import ProfileEvents

/// A call site as the text `Scenarios/faults.yml:16`.
struct JSONLocation: Codable {
  var site: CallSite

  init(_ site: CallSite) {
    self.site = site
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let colon = text.lastIndex(of: ":"), let line = Int(text[colon...].dropFirst()) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "`\(text)` is no FILE:LINE")
    }
    site = CallSite(file: String(text[..<colon]), line: line)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(site.file):\(site.line)")
  }
}
