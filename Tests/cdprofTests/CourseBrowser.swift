import Foundation
import Testing

/// `cdprof serve` as a process, and a client that sends it requests as bytes.
final class CourseBrowser {
  /// A response: its status, its headers, and its body.
  struct Response {
    let status: Int
    let headers: String
    let body: String

    /// The values of a JSON object.
    var values: [String: Any] {
      (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
    }

    func text(_ key: String) -> String { values[key] as? String ?? "" }
  }

  let process = Process()
  /// Its folder is removed with it.
  private let program: BuiltProgram
  private let output: URL
  let port: UInt16
  /// The path of the contents, which is the token.
  let root: String

  /// Starts the program on a folder and waits for its URL.
  init(_ program: BuiltProgram, _ folder: String, port wanted: UInt16 = 0) throws {
    self.program = program
    output = program.folder.file("served.txt")
    try Data().write(to: output)
    process.executableURL = URL(fileURLWithPath: program.path)
    process.arguments = ["serve", folder, "--port", String(wanted)]
    process.environment = program.environment
    process.currentDirectoryURL = program.folder.url
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    var url: URL?
    while process.isRunning, url == nil {
      usleep(20_000)
      let text = try String(contentsOf: output, encoding: .utf8)
      url = text.firstMatch(of: /http:\/\/[^ \n]+\/(?=\n)/).flatMap { URL(string: String($0.0)) }
    }
    let found = try #require(url)
    port = UInt16(try #require(found.port))
    root = found.path.hasSuffix("/") ? found.path : found.path + "/"
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
  }

  /// Sends SIGINT and returns the exit status.
  func interrupt() -> Int32 {
    kill(process.processIdentifier, SIGINT)
    process.waitUntilExit()
    return process.terminationReason == .exit ? process.terminationStatus : -1
  }

  /// The host as a browser sends it, which leaves out HTTP's own port.
  var host: String { port == 80 ? "127.0.0.1" : "127.0.0.1:\(port)" }

  func get(_ path: String) throws -> Response {
    try send("GET \(root)\(path) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
  }

  /// Posts values as a page of the server does.
  func post(_ path: String, _ values: [String: String]) throws -> Response {
    let body = try JSONSerialization.data(withJSONObject: values)
    return try send(head(of: path, length: body.count) + String(decoding: body, as: UTF8.self))
  }

  /// Returns the first bytes of a POST as a page of the server sends it.
  func head(of path: String, length: Int) -> String {
    """
    POST \(root)\(path) HTTP/1.1\r
    Host: \(host)\r
    Origin: http://\(host)\r
    Content-Type: application/json\r
    Content-Length: \(length)\r
    \r\n
    """
  }

  /// Whether Chromium must be installed.
  static let isInCI = ProcessInfo.processInfo.environment["CI"] == "true"

  /// Returns a page's elements after its scripts have run in Chromium.
  func elementsInChromium(_ path: String) throws -> String {
    let script = """
      chromium --headless --no-sandbox --disable-gpu --user-data-dir=profile \\
      --virtual-time-budget=5000 --dump-dom 'http://\(host)\(root)\(path)' 2> chromium.txt
      """
    return try program.bash(script).output
  }

  /// Connects, and returns the socket.
  func connection() throws -> Int32 {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isConnected = CourseBrowser.succeeds(file, port) { connect($0, $1, $2) }
    try #require(isConnected)
    return file
  }

  /// Returns whether a program with the permissions of the tests can listen on a port.
  static func canListen(on port: UInt16) -> Bool {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(file) }
    return succeeds(file, port) { bind($0, $1, $2) }
  }

  /// Calls a function such as `connect` with the loopback address and a port.
  private static func succeeds(
    _ file: Int32, _ port: UInt16, _ call: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Bool {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        call(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }

  /// Sends the bytes of a request, and reads the response to its end.
  func send(_ request: String) throws -> Response {
    let file = try connection()
    defer { close(file) }
    let bytes = Array(request.utf8)
    // The server may close the connection before it has read everything.
    Foundation.send(file, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    var data = Data()
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = recv(file, &part, part.count, 0)
      guard count > 0 else { break }
      data += part[..<count]
    }
    let text = String(decoding: data, as: UTF8.self)
    let end = text.firstRange(of: "\r\n\r\n")
    return Response(
      status: Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0,
      headers: end.map { String(text[..<$0.lowerBound]) } ?? "",
      body: end.map { String(text[$0.upperBound...]) } ?? "")
  }
}
