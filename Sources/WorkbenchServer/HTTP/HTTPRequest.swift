import Foundation

/// A request to the server.
struct HTTPRequest: Sendable {
  let head: HTTPRequestHead
  let body: Data
}

/// The request line and the headers of a request.
struct HTTPRequestHead: Sendable, Equatable {
  let method: String
  /// The parts of the path between slashes, with percent escapes decoded.
  ///
  /// They're compared with known names and never used as paths of files.
  let path: [String]
  /// What follows the question mark; empty if there's none.
  let query: String
  private let headers: [String: String]

  /// Returns the value of a header; its name is lowercase.
  subscript(header: String) -> String? { headers[header] }

  /// Parses a request line and headers, without the empty line at their end.
  ///
  /// Returns `nil` if they aren't valid, or if a header that matters occurs twice, so that no two
  /// readers can understand a request differently.
  init?(_ bytes: some Sequence<UInt8>) {
    guard let text = String(bytes: Array(bytes), encoding: .utf8) else { return nil }
    let lines = text.components(separatedBy: "\r\n")
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else {
      return nil
    }
    method = String(words[0])
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    query = target.count > 1 ? String(target[1]) : ""
    let parts = target[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    path = parts.compactMap { String($0).removingPercentEncoding }
    guard path.count == parts.count else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), line.first?.isWhitespace == false else {
        return nil
      }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      let old = headers.updateValue(value, forKey: name)
      guard old == nil || !HTTPRequestHead.single.contains(name) else { return nil }
    }
    self.headers = headers
  }

  private static let single: Set = [
    "host", "origin", "content-length", "transfer-encoding", "content-type",
  ]

  /// The length of the body in bytes, or `nil` if it isn't a valid number.
  var contentLength: Int? {
    guard let text = self["content-length"] else { return 0 }
    guard text.count <= 12, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return Int(text)
  }
}
