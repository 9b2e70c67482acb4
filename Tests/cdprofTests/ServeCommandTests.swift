import Foundation
import Testing

@Suite("cdprof serve")
struct ServeCommandTests {
  private static let lesson = """
    name: Notes
    model: Notes
    data: {Folder: {count: 3, name: text 4}, Note: {count: 6, text: text 8, folder: cycle}}
    steps: [{fetch: Note, faults: no, as: notes}, {touch: notes, read: [folder.name]}]
    variants: [{name: plain, expect: {selects: 1 + Folder}}]
    predict: {question: How many?, count: plain.selects}
    """

  /// Returns a program with a course of one lesson in a subfolder, whose model is one level up.
  private func program() throws -> BuiltProgram {
    let program = try BuiltProgram()
    _ = try program.folder.write(Self.lesson, to: "Scenarios/first/notes.yml")
    _ = try program.folder.write("# Start\n\nRead.\n", to: "Scenarios/first/chapter.md")
    try FileManager.default.copyItem(
      atPath: PackageFiles.scenario("Models"), toPath: program.folder.file("Scenarios/Models").path)
    return program
  }

  /// The time limit of a line can end when its step has just ended.
  @Test func interruptedShellOfATabAnswersTheNextLine() throws {
    let program = try BuiltProgram()
    let scenario = try program.smallFaults()
    let outcome = try program.bash(
      #"""
      mkfifo lines; touch answers
      "$CDPROF" shell --served '\#(scenario)' -- '\#(scenario)' < lines > answers &
      exec 3> lines
      answered() {
        for i in {1..600}; do
          [ "$(tr -cd '\036' < answers | wc -c)" -ge "$1" ] && return; sleep 0.1
        done
        return 1
      }
      answered 1; kill -INT $!; sleep 0.5
      echo 'count Country' >&3
      answered 2; echo "$?"
      exec 3>&-
      wait $!; echo "$?"; cat answers
      """#)
    #expect(outcome.output.hasPrefix("0\n0\n") && outcome.output.contains("60 Country"))
  }

  @Test func lessonIsReadChangedAndRunNextToTheOldPage() throws {
    let program = try program()
    let browser = try CourseBrowser(program, "Scenarios")
    for (page, text) in [
      ("", "first/notes.html"), ("index.html", "first/chapter.html"), ("glossary.html", "Glossary"),
      ("first/chapter.html", "Start"), ("first/notes.yml", "faults: no, as: notes"),
    ] {
      let response = try browser.get(page)
      #expect(response.status == 200 && response.body.contains(text), "\(page)")
    }
    let page = try browser.get("first/notes.html")
    #expect(page.body.contains("id=\"change\"") && page.body.contains("class=\"asks\""))
    #expect(page.body.contains("connect-src 'self'; frame-src 'self'"))
    #expect(page.headers.contains("frame-ancestors 'self'") && page.headers.contains("no-referrer"))
    let plain = try browser.get("first/notes.html?plain")
    #expect(plain.status == 200)
    for part in ["id=\"change\"", "class=\"asks\"", "connect-src"] {
      #expect(!plain.body.contains(part))
    }

    let changed = Self.lesson.replacing("faults: no", with: "faults: no, prefetch: [folder]")
    let run = try browser.post("run", ["lesson": "first/notes", "text": changed])
    #expect(run.text("state") == "✗ 0 of 1 variant, 0 of 1 expectation", "\(run.body)")
    #expect(try browser.get(run.text("page")).body.contains("expected</span> <b>4"))
    let right = try browser.post(
      "run",
      [
        "lesson": "first/notes", "session": run.text("session"),
        "text": changed.replacing("1 + Folder", with: "2"),
      ])
    #expect(right.text("state") == "✓ 1 of 1 variant, 1 of 1 expectation", "\(right.body)")
    #expect(right.text("session") == run.text("session"))
    #expect(try !browser.get(right.text("page")).body.contains("expected</span> <b>4"))
    #expect(
      try String(contentsOf: program.folder.file("Scenarios/first/notes.yml"), encoding: .utf8)
        == Self.lesson)
  }

  /// The page's policy must allow its script, and the script to load the scenario's text.
  @Test(.enabled(if: Tool.exists("chromium") || CourseBrowser.isInCI, "no chromium in PATH"))
  func pageLoadsTheScenarioInChromium() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    let elements = try browser.elementsInChromium("first/notes.html")
    #expect(elements.contains("<pre class=\"lines\" aria-hidden=\"true\">1\n2\n3\n4\n5\n6\n</pre>"))
    #expect(elements.contains("<button type=\"button\" data-run=\"\">Run</button>"))
  }

  @Test func errorInAChangedScenarioHasItsLineAndCarets() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    let run = try browser.post(
      "run", ["lesson": "first/notes", "text": Self.lesson.replacing("touch", with: "tuch")])
    #expect(run.status == 200 && run.text("page") == "")
    let messages = run.text("messages")
    #expect(messages.hasPrefix("Scenarios/first/notes.yml:4:48: error: unknown verb `tuch`"))
    #expect(messages.contains("\n" + String(repeating: " ", count: 49) + "^^^^\n"), "\(messages)")
    let missing = try browser.post("run", ["lesson": "../notes", "text": Self.lesson])
    #expect(missing.status == 404)
  }

  /// Requests, with line feeds as `|`, and the status of their response.
  private static let hostile: [(request: String, status: Int)] = [
    ("GET / HTTP/1.1|Host: HOST", 403),
    ("GET /0123456789abcdef0123456789abcdef/index.html HTTP/1.1|Host: HOST", 403),
    ("GET ROOT HTTP/1.1|Host: evil.example", 403), ("GET ROOT HTTP/1.1", 403),
    ("GET ROOT HTTP/1.1|Host: HOST|Host: HOST", 400), ("GET ROOT", 400),
    ("PUT ROOTrun HTTP/1.1|Host: HOST", 405),
    ("GET ROOT../../etc/passwd HTTP/1.1|Host: HOST", 404),
    ("GET ROOT..%2f..%2f..%2fetc%2fpasswd HTTP/1.1|Host: HOST", 404),
    ("GET ROOTfirst/../first/notes.yml HTTP/1.1|Host: HOST", 404),
    ("GET ROOTresults/..%2fx.html HTTP/1.1|Host: HOST", 404),
    ("GET ROOT%ff HTTP/1.1|Host: HOST", 400),
    ("POST ROOTrun HTTP/1.1|Host: HOST|Content-Type: application/json", 403),
    (
      "POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://evil.example|Content-Type: application/json",
      403
    ),
    ("POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://HOST|Content-Type: text/plain", 415),
    (
      "POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://HOST|Content-Type: application/json|Content-Length: 2000000",
      413
    ),
    (
      "POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://HOST|Content-Type: application/json|Content-Length: x",
      411
    ),
    (
      "POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://HOST|Content-Type: application/json|Transfer-Encoding: chunked",
      411
    ),
    (
      "POST ROOTrun HTTP/1.1|Host: HOST|Origin: http://HOST|Content-Type: application/json|Content-Length: 2",
      400
    ),
    ("GET ROOT HTTP/1.1|X: LONG", 431),
  ]

  @Test func hostileRequestsAreRejected() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    for (request, status) in Self.hostile {
      let text =
        request.replacing("|", with: "\r\n").replacing("HOST", with: browser.host)
        .replacing("ROOT", with: browser.root)
        .replacing("LONG", with: String(repeating: "a", count: 20_000)) + "\r\n\r\n{}"
      let response = try browser.send(text)
      #expect(response.status == status, "\(request) → \(response.headers)")
      #expect(!response.body.contains("root:"))
    }
    #expect(try browser.get("").status == 200)
  }

  /// A browser leaves out port 80 in `Host` and `Origin`.
  @Test(.enabled(if: CourseBrowser.canListen(on: 80), "port 80 can't be used"))
  func pageIsShownAtHTTPsOwnPort() throws {
    let browser = try CourseBrowser(try program(), "Scenarios", port: 80)
    #expect(try browser.get("").status == 200)
    let shell = try browser.post("shell", ["lesson": "first/notes", "line": ""])
    #expect(shell.status == 200, "\(shell.body)")
    let other = try browser.send("GET \(browser.root) HTTP/1.1\r\nHost: 127.0.0.1:81\r\n\r\n")
    #expect(other.status == 403)
  }

  @Test func tabsHaveTheirOwnShellsAndPages() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    let start = ["lesson": "first/notes", "text": Self.lesson]
    let one = try browser.post("shell", start.merging(["line": "fetch Note as mine"]) { $1 })
    #expect(one.text("banner").hasPrefix("Notes · Folder 3, Note 6"), "\(one.body)")
    #expect(one.text("output").contains("mine: 6 Note"))
    let two = try browser.post("shell", start.merging(["line": "touch mine text"]) { $1 })
    #expect(two.text("session") != one.text("session"))
    #expect(two.text("output").contains("there's no result `mine`"), "\(two.body)")
    let again = ["lesson": "first/notes", "session": one.text("session")]
    let line = { try browser.post("shell", again.merging(["line": $0]) { $1 }) }
    #expect(try line("touch mine text").text("output").contains("read 1 key path of 6 objects"))
    for command in ["report x.html", "save store x.sqlite", "open /etc/passwd", "source x"] {
      #expect(try line("time \(command)").text("output").contains("which this shell can't"))
    }
    #expect(try line("a\nb").status == 400)
    #expect(try line(String(repeating: "a", count: 20_000)).status == 413)
    #expect(try line("quit").values["ended"] as? Bool == true)
    #expect(try line("last").values["ended"] as? Bool == true)
  }

  @Test func sessionsAreLimitedAndSlowClientsDelayNobody() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    // More than the threads that tasks share, with half of a request each.
    let slow = try (0..<20).map { _ in
      let file = try browser.connection()
      #expect(send(file, "GET / HT", 8, Int32(MSG_NOSIGNAL)) == 8)
      return file
    }
    defer { for file in slow { close(file) } }
    let line = ["lesson": "first/notes", "line": ""]
    let statuses = try (0..<17).map { _ in try browser.post("shell", line).status }
    #expect(statuses == Array(repeating: 200, count: 16) + [503])
  }

  @Test func killedShellEndsItsTabAndNotTheServer() throws {
    let browser = try CourseBrowser(try program(), "Scenarios")
    let start = ["lesson": "first/notes", "text": Self.lesson, "line": ""]
    let shell = try browser.post("shell", start)
    #expect(shell.text("banner").hasPrefix("Notes · "), "\(shell.body)")
    let child = try #require(try children(of: browser.process.processIdentifier).first)
    #expect(kill(child, SIGKILL) == 0)
    while try children(of: browser.process.processIdentifier).contains(child) { usleep(20_000) }
    let line = ["lesson": "first/notes", "session": shell.text("session"), "line": "last"]
    #expect(try browser.post("shell", line).values["ended"] as? Bool == true)
    // A signal is handled on another thread, so an end would follow the answer.
    for _ in 0..<10 {
      usleep(20_000)
      #expect(browser.process.isRunning)
    }
    #expect(try browser.post("shell", start).text("banner").hasPrefix("Notes · "))
  }

  @Test func interruptEndsTheProcessesAndRemovesAllFiles() throws {
    let program = try program()
    let browser = try CourseBrowser(program, "Scenarios")
    let shell = try browser.post(
      "shell", ["lesson": "first/notes", "text": Self.lesson, "line": "fetch Note"])
    #expect(shell.status == 200 && !program.leftovers.isEmpty)
    // Three tabs run what takes long; two of them at once, next to the shell.
    let long = Self.lesson.replacing("count: 6", with: "count: 3000000")
    let body = try JSONSerialization.data(withJSONObject: ["lesson": "first/notes", "text": long])
    let runs = try (0..<3).map { _ in
      let file = try browser.connection()
      let request = Array(browser.head(of: "run", length: body.count).utf8) + Array(body)
      #expect(send(file, request, request.count, Int32(MSG_NOSIGNAL)) == request.count)
      return file
    }
    defer { for file in runs { close(file) } }
    var children: [pid_t] = []
    while browser.process.isRunning, children.count < 3 {
      children = try self.children(of: browser.process.processIdentifier)
    }
    for _ in 0..<10 {
      usleep(20_000)
      #expect(try self.children(of: browser.process.processIdentifier) == children)
    }
    #expect(browser.interrupt() == 0)
    #expect(program.leftovers == [])
    for child in children { #expect(kill(child, 0) != 0 && errno == ESRCH) }
  }

  private func children(of parent: pid_t) throws -> [pid_t] {
    try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter {
      let status = try? String(contentsOfFile: "/proc/\($0)/stat", encoding: .utf8)
      let words = status?.split(separator: ")").last?.split(separator: " ")
      return words?.dropFirst().first.flatMap { pid_t($0) } == parent
    }
  }

  @Test func wrongArgumentsHaveTheirStatuses() throws {
    let program = try program()
    let browser = try CourseBrowser(program, "Scenarios")
    #expect(try program.run(["serve", "missing"]).status == 66)
    let used = try program.run(["serve", "Scenarios", "--port", String(browser.port)])
    #expect(used.status == 1 && used.errors.contains("Address already in use"), "\(used.errors)")
    #expect(try program.run(["serve", "Scenarios", "--port", "65536"]).status == 64)
    _ = try program.folder.write("name: x\nsteps: []\n", to: "Scenarios/wrong.yml")
    #expect(try program.run(["serve", "Scenarios", "--port", "0"]).status == 65)
  }
}
