import Foundation
import OpenCoreData
import Profiling
import RunReports
import WorkbenchText

/// Answers the requests of browsers that show a course.
///
/// | request | answer |
/// | --- | --- |
/// | `GET /TOKEN/index.html`, `glossary.html`, `FOLDER/chapter.html` | a page of the course |
/// | `GET /TOKEN/LESSON.html` | a lesson; with `?plain`, without questions and links |
/// | `GET /TOKEN/LESSON.yml` | the text of its scenario |
/// | `GET /TOKEN/results/SESSION.html` | the page of the last run of a tab |
/// | `POST /TOKEN/run` | runs the text of a `RunRequest`, and returns a `RunAnswer` |
/// | `POST /TOKEN/shell` | runs a `ShellRequest` in the tab's shell, and returns a `ShellReply` |
///
/// A name in a URL is only compared with those of lessons and pages; no file is looked up by it.
final class CourseService: LoopbackHandler {
  private let token: String
  /// The valid values of `Host`.
  private let hosts: Set<String>
  private let lessons: LessonLibrary
  private let sessions: BrowserSessions
  private let queue = RunQueue()
  /// The folder in which the lessons themselves run, each in a folder of its own.
  private let scratch: URL

  /// - Parameters:
  ///   - lessons: The lessons and pages.
  ///   - token: The first part of every path.
  ///   - port: The port, which is part of a valid `Host`.
  ///   - folder: The folder for all temporary files, which the caller removes.
  init(_ lessons: LessonLibrary, token: String, port: UInt16, folder: URL) {
    self.lessons = lessons
    self.token = token
    let address = LoopbackServer.address
    // A browser leaves out HTTP's own port.
    hosts = Set(["\(address):\(port)"] + (port == 80 ? [address] : []))
    scratch = folder
    sessions = BrowserSessions(in: folder)
  }

  // MARK: Access

  func refusal(of head: HTTPRequestHead) -> HTTPResponse? {
    // Another site can make a browser send requests here, under another name (DNS rebinding).
    guard let host = head["host"], hosts.contains(host) else {
      return .text("Open the URL that cdprof serve printed.\n", .forbidden)
    }
    guard let first = head.path.first, RandomName.areEqual(first, token) else {
      return .text("Open the URL that cdprof serve printed; it contains a token.\n", .forbidden)
    }
    switch head.method {
    case "GET":
      return nil
    case "POST":
      guard head["origin"] == "http://\(host)" else {
        return .text("The request comes from another site.\n", .forbidden)
      }
      let type = head["content-type"]?.split(separator: ";").first.map(String.init)
      guard type?.lowercased() == "application/json" else {
        return .text("Send JSON.\n", .unsupportedType)
      }
      return nil
    default:
      return .text("Use GET or POST.\n", .methodNotAllowed)
    }
  }

  func response(to request: HTTPRequest) async -> HTTPResponse {
    let path = request.head.path.dropFirst().joined(separator: "/")
    do {
      if request.head.method == "POST" {
        return switch path {
        case "run": try await run(RunRequest(request.body))
        case "shell": try await line(ShellRequest(request.body))
        default: .text("There's no such address.\n", .notFound)
        }
      }
      return try await page(at: path, query: request.head.query)
    } catch is RunQueue.Full {
      return .text("Too many scenarios are waiting; try again later.\n", .unavailable)
    } catch is BrowserSessions.TooMany {
      return .text(
        "Too many tabs are in use (\(InputLimits.browserSessions)); try again later.\n",
        .unavailable)
    } catch is BrowserSession.Busy {
      return .text("The previous request of this tab isn't finished yet.\n", .conflict)
    } catch is CancellationError {
      return .text("The server is shutting down.\n", .unavailable)
    } catch let error as RequestError {
      return .text(error.message + "\n", error.status)
    } catch {
      return .text(PrintableText.escaped(ErrorText.of(error)) + "\n", .failed)
    }
  }

  // MARK: Pages

  private func page(at path: String, query: String) async throws -> HTTPResponse {
    if let page = lessons.page(at: path.isEmpty ? "index.html" : path) { return .page(page) }
    let name = (path as NSString).deletingPathExtension
    switch (path as NSString).pathExtension {
    case "html":
      if lessons.contains(name) {
        return try await lesson(name, isPlain: query == CoursePages.plain)
      }
      let parts = name.split(separator: "/", omittingEmptySubsequences: false)
      if parts.count == 2, parts[0] == "results",
        let session = sessions.session(named: String(parts[1])),
        let page = try? String(contentsOf: session.page, encoding: .utf8)
      {
        return .page(page)
      }
    case "yml":
      if lessons.contains(name) { return .text(try lessons.text(of: name)) }
    default:
      break
    }
    return .text("There's no such page.\n", .notFound)
  }

  private func lesson(_ name: String, isPlain: Bool) async throws -> HTTPResponse {
    let text = try lessons.text(of: name)
    let run = ScenarioRun(
      path: try lessons.path(of: name), text: text,
      folder: scratch.appendingPathComponent("lesson-\(RandomName.make())", isDirectory: true))
    if lessons.result(of: name, text: text) == nil {
      let outcome = try await queue.run {
        defer { try? FileManager.default.removeItem(at: run.folder) }
        return try run.outcome()
      }
      guard let result = outcome.result else {
        return .text("\(outcome.state)\n\n\(outcome.messages)", .failed)
      }
      lessons.keep(result, of: name, text: text)
    }
    return try await BlockingWork.run { [lessons] in
      .page(try lessons.page(of: name, text: text, isPlain: isPlain))
    }
  }

  // MARK: Runs and shells

  private func run(_ request: RunRequest) async throws -> HTTPResponse {
    let path = try lessons.path(of: request.lesson)
    let session = try sessions.session(resuming: request.session)
    let answer = try await session.run { [queue] folder in
      try await queue.run {
        let outcome = try ScenarioRun(path: path, text: request.text, folder: folder).outcome()
        var answer = RunAnswer(
          session: session.name, state: outcome.state, messages: outcome.messages)
        if let result = outcome.result {
          let page = try CoursePages.plainPage(result)
          try OutputFile.write(Data(page.utf8), to: session.page, force: true)
          // A new query makes the frame load the page again.
          answer.page = "results/\(session.name).html?\(RandomName.make())"
        }
        return answer
      }
    }
    return try .json(answer)
  }

  private func line(_ request: ShellRequest) async throws -> HTTPResponse {
    guard request.line.utf8.count <= InputLimits.browserLine else {
      let limit = NumberText.grouped(InputLimits.browserLine)
      throw RequestError(.tooLarge, "The line is too long; the limit is \(limit) bytes.")
    }
    guard !request.line.contains(where: \.isNewline) else {
      throw RequestError(.badRequest, "Send one line at a time.")
    }
    let path = try lessons.path(of: request.lesson)
    let session = try sessions.session(resuming: request.session)
    let (banner, answer) = try await session.answer(
      to: request.line, startingWith: request.text.map { (path, $0) })
    return try .json(
      ShellReply(
        session: session.name, banner: banner, output: answer.output, ended: answer.ends))
  }
}
