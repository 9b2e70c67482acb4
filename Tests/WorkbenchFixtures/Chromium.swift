import Foundation

/// A headless Chromium, if one is installed.
package struct Chromium {
  /// The path of the executable; `nil` if none is installed.
  package static let path: String? = {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    for name in ["chromium", "chromium-browser", "google-chrome"] {
      for folder in folders {
        let path = "\(folder)/\(name)"
        if FileManager.default.isExecutableFile(atPath: path) { return path }
      }
    }
    return nil
  }()

  /// Whether to run the tests that need Chromium; in CI, they run even if it isn't installed.
  package static let isExpected =
    path != nil || ProcessInfo.processInfo.environment["CI"] == "true"

  /// The error if no Chromium is installed.
  package struct Missing: Error {}

  /// The page's elements after its scripts have run.
  package let elements: String
  /// What the page wrote to the console, errors included.
  package let console: [String]

  /// Opens a page with a new profile, in a window of the given width.
  ///
  /// - Parameters:
  ///   - page: The page as HTML.
  ///   - width: The width of the window.
  ///   - milliseconds: How long its timers run, in a time of their own.
  package init(opening page: String, width: Int = 1_200, milliseconds: Int = 0) throws {
    guard let path = Chromium.path else { throw Missing() }
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("cdprof-chromium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("page.html")
    try Data(page.utf8).write(to: file)
    let output = try Chromium.emptyFile(folder.appendingPathComponent("output"))
    let errors = try Chromium.emptyFile(folder.appendingPathComponent("errors"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    let time = milliseconds > 0 ? ["--virtual-time-budget=\(milliseconds)"] : []
    process.arguments =
      time + [
        "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        "--window-size=\(width),844",
        "--user-data-dir=\(folder.appendingPathComponent("profile").path)", "--dump-dom",
        file.absoluteString,
      ]
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    elements = String(decoding: try Data(contentsOf: output), as: UTF8.self)
    console = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
      .split(separator: "\n").map(String.init).filter { $0.contains(":CONSOLE") }
  }

  /// Returns by how many pixels a page is wider than windows of the given widths.
  package static func excess(
    of page: String, at widths: [Int] = [320, 390, 600, 768, 1_024, 1_201, 1_280]
  ) throws -> [Int] {
    let source = String(decoding: try JSONEncoder().encode(page), as: UTF8.self)
    let script = """
      <!doctype html><script>
      const page = \(source.replacing("</", with: "<\\/"));
      Promise.all(\(widths).map(width => new Promise(measured => {
        const frame = document.createElement("iframe");
        frame.width = width;
        frame.srcdoc = page;
        frame.onload = () => {
          const all = frame.contentDocument.documentElement;
          measured(all.scrollWidth - all.clientWidth);
        };
        document.body.append(frame);
      }))).then(beyond => { document.title = beyond.join(" "); });
      </script>
      """
    let shown = try Chromium(opening: "<body>" + script)
    let title = shown.elements.firstMatch(of: /<title>([-0-9 ]+)<\/title>/)?.1
    return title?.split(separator: " ").compactMap { Int($0) } ?? []
  }

  private static func emptyFile(_ url: URL) throws -> URL {
    try Data().write(to: url)
    return url
  }
}
