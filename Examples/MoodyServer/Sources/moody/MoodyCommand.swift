import ArgumentParser
import Moody
import MoodyHTTP
import MoodySync
import OpenCoreData

@main
struct MoodyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "moody", abstract: "Keep moods on this machine and on a server.",
    subcommands: [Add.self, List.self, Delete.self, Watch.self])
}

/// The options of all commands.
struct ClientOptions: ParsableArguments {
  @Option(help: "The store, which is created if there is none.")
  var store = "moody.sqlite"

  @Option(help: "The URL of the server.")
  var server = "http://127.0.0.1:8080"

  @Option(help: "How many seconds to wait for the server. Without it, moods are sent later.")
  var wait = 5.0

  func validate() throws {
    guard (0...86_400).contains(wait) else {
      throw ValidationError("--wait isn't from 0 to 86400 seconds: \(wait)")
    }
  }

  func client() throws -> Client {
    guard let url = URL(string: server), url.host != nil else {
      throw ValidationError("--server isn't a URL: \(server)")
    }
    return try Client(storeURL: URL(fileURLWithPath: store), server: url, wait: wait)
  }
}

struct Add: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Add a mood with the current date.")

  @OptionGroup var options: ClientOptions

  @Option(help: "The two-letter code of the country.")
  var country: String?

  @Option(help: "A picture with the mood's colors: a portable pixmap, or - for standard input.")
  var picture: String?

  @Argument(
    help: "Colors with six hexadecimal digits, such as ff8800; without a picture, gray by default.")
  var colors: [String] = []

  func validate() throws {
    if picture != nil, !colors.isEmpty { throw ValidationError("Use either --picture or colors.") }
    // The server rejects more.
    if colors.count > 1_000 { throw ValidationError("Use up to 1000 colors.") }
  }

  func run() async throws {
    let data = try picture.map(pictureColors) ?? namedColors()
    let code = try country.map { country in
      guard let code = Country.code(forLetters: country) else {
        throw ValidationError("'\(country)' isn't a country; use a code such as FR")
      }
      return code
    }
    let client = try options.client()
    try await client.change { context in
      let mood: Mood = context.insertObject()
      mood.date = Date()
      mood.colors = data
      mood.country = try code.map { try Country.findOrCreate(for: $0, in: context) }
    }
    print(try await client.waitUntilSent() ? "sent" : "stored; it's sent later")
  }

  private func namedColors() throws -> Data {
    try (colors.isEmpty ? ["888888"] : colors).reduce(into: Data()) { data, color in
      // `UInt32` also reads a sign.
      guard color.utf8.count == 6, color.allSatisfy(\.isHexDigit),
        let value = UInt32(color, radix: 16)
      else {
        throw ValidationError("'\(color)' isn't a color; use six hexadecimal digits")
      }
      data += [UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }
  }

  private func pictureColors(_ path: String) throws -> Data {
    do {
      // Six bytes for each pixel, and the header.
      let limit = PictureColors.maximumPixelCount * 6 + 4096
      let file =
        path == "-" ? .standardInput : try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
      let data = try file.read(upToCount: limit) ?? Data()
      return try PictureColors(portablePixmap: data).dominant()
    } catch {
      let reason = (error as? PictureError)?.description ?? error.localizedDescription
      throw CommandError(description: "\(path == "-" ? "standard input" : path): \(reason)")
    }
  }
}

struct List: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List the moods, the latest first.")

  @OptionGroup var options: ClientOptions

  func run() async throws {
    let client = try options.client()
    let isFetched = try await client.waitUntilFetched()
    // What was left over when the server was away.
    if isFetched { _ = try await client.waitUntilSent() }
    if !isFetched { printError("the server doesn't answer; these are the moods as last fetched") }
    for line in try await client.lines() { print(line) }
  }
}

struct Delete: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Delete a mood here and on the server.")

  @OptionGroup var options: ClientOptions

  @Argument(help: "The beginning of the mood's identifier, as listed.")
  var identifier: String

  func validate() throws {
    if identifier.isEmpty { throw ValidationError("Every identifier begins with ''.") }
  }

  func run() async throws {
    let client = try options.client()
    try await client.change { [identifier] context in
      let moods = try Mood.fetch(in: context) { request in
        request.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
          Mood.defaultPredicate,
          NSPredicate(
            format: "recordName BEGINSWITH %@ OR (recordName == NULL AND %K BEGINSWITH %@)",
            identifier, Mood.remoteIdentifierKey, identifier),
        ])
        request.fetchLimit = 2
      }
      guard moods.count == 1, let mood = moods.first else {
        throw CommandError(
          description: moods.isEmpty
            ? "no mood's identifier begins with '\(identifier)'; see `moody list`"
            : "several moods' identifiers begin with '\(identifier)'; use more letters")
      }
      mood.markForRemoteDeletion()
    }
    print(try await client.waitUntilSent() ? "deleted" : "hidden; it's deleted later")
  }
}

struct Watch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the moods, and list them again each time they change.")

  @OptionGroup var options: ClientOptions

  func run() async throws {
    let client = try options.client()
    var shown: [String]?
    for await _ in client.changes() {
      let lines = try await client.lines()
      guard lines != shown else { continue }
      print("— \(lines.count) moods")
      for line in lines { print(line) }
      fflush(nil)
      shown = lines
    }
  }
}

/// An error of a command whose arguments are valid.
private struct CommandError: Error, CustomStringConvertible {
  let description: String
}

/// Prints a line to standard error.
private func printError(_ message: String) {
  FileHandle.standardError.write(Data("moody: \(message)\n".utf8))
}
