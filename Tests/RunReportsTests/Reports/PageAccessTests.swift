import CEmbeddedFiles
import Foundation
import ProfileEvents
import Testing
import WorkbenchFixtures

@testable import RunReports
@testable import RunResults

@Suite("Accessibility of the HTML report")
struct PageAccessTests {
  private static let style = String(cString: embedded_style_css())

  /// The colors of a theme by name.
  private static func colors(dark: Bool) throws -> [String: [Double]] {
    let blocks = style.matches(of: /:root \{\n([^}]*)\}/).map { String($0.1) }
    try #require(blocks.count >= 2)
    var colors: [String: [Double]] = [:]
    for block in dark ? blocks.prefix(2) : blocks.prefix(1) {
      for match in block.matches(of: /--([a-z-]+): #([0-9a-f]{6});/) {
        let value = Int(match.2, radix: 16) ?? 0
        colors[String(match.1)] = [value >> 16, value >> 8 & 0xFF, value & 0xFF].map {
          Double($0) / 255
        }
      }
    }
    return colors
  }

  /// WCAG 2: relative luminance of sRGB.
  private static func luminance(_ color: [Double]) -> Double {
    let linear = color.map { $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4) }
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
  }

  private static func contrast(_ one: [Double], _ other: [Double]) -> Double {
    let (first, second) = (luminance(one), luminance(other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  @Test(arguments: [false, true])
  func colorContrastIsSufficient(dark: Bool) throws {
    let colors = try Self.colors(dark: dark)
    let textColors = ["ink", "soft", "link", "good", "bad", "warn"]
    var pairs = textColors.flatMap { [($0, "paper", 4.5), ($0, "panel", 4.5)] }
    pairs += [("ink", "bad-tint", 4.5), ("soft", "bad-tint", 4.5), ("bad", "bad-tint", 4.5)]
    pairs += [("link", "bad-tint", 4.5)]
    // Meaningful graphics.
    pairs += ["bar", "fetch", "save", "fault", "miss"].map { ($0, "paper", 3) }
    for (front, back, least) in pairs {
      let ratio = Self.contrast(try #require(colors[front]), try #require(colors[back]))
      #expect(ratio >= least, "\(front) on \(back): \(ratio), \(dark ? "dark" : "light")")
    }
    #expect(abs(Self.contrast([0, 0, 0], [1, 1, 1]) - 21) < 0.01)
  }

  private static var page: String {
    get throws {
      var result = FaultStormScenario(moods: 200).result(missing: true)
      result.variants[0].stacks = [
        StackShape(kind: .objectFault, subject: "Mood", count: 7, frames: ["list()", "main"])
      ]
      result.variants[0].take(repeats: [1_000_000, 2_000_000, 4_000_000])
      var larger = FaultStormScenario(moods: 2_000).result()
      larger.scale = 10
      return try HTMLReport.page(RunResult(joining: [result, larger]))
    }
  }

  @Test func pageElementsHaveAccessibleNames() throws {
    let page = try Self.page
    for tag in ["<main>", "<header class=\"top\">", "<footer>", "<h1>"] {
      #expect(page.matches(of: try Regex(NSRegularExpression.escapedPattern(for: tag))).count == 1)
    }
    #expect(page.contains("<html lang=\"en\">") && page.contains("class=\"skip\" href=\"#table\""))
    let headings = page.matches(of: /<th\b([^>]*)>/)
    #expect(!headings.isEmpty)
    for match in headings {
      #expect(match.1.contains("scope=\"col\"") || match.1.contains("scope=\"row\""))
    }
    let tables = page.matches(of: /<table\b[^>]*>(?s:(.*?))<\/table>/)
    #expect(!tables.isEmpty)
    for match in tables {
      #expect(match.1.contains("<thead"), "a table without headings")
    }
    let pictures = page.matches(of: /<svg\b[^>]*>(.{7})/)
    #expect(!pictures.isEmpty && pictures.allSatisfy { $0.1 == "<title>" })
    let sections = page.matches(of: /<section\b([^>]*)>/)
    #expect(!sections.isEmpty)
    for match in sections {
      #expect(match.1.contains("aria-label"), "a section without a name")
    }
    // Scrollable tracks and tables can be reached with the keyboard.
    let scrollers = page.matches(of: /<div class="scroll"([^>]*)>/)
    #expect(!scrollers.isEmpty)
    for match in scrollers {
      #expect(match.1.contains("tabindex=\"0\"") && match.1.contains("aria-label=\""))
    }
    let ids = page.matches(of: /\bid="([^"]*)"/).map { String($0.1) }
    #expect(Set(ids).count == ids.count, "two elements have the same ID")
    let references = page.matches(of: /(?:href="#|aria-labelledby=")([^"]*)"/)
    #expect(!references.isEmpty)
    for match in references {
      #expect(ids.contains(String(match.1)), "no element has the ID \(match.1)")
    }
  }

  @Test func pageWorksWithoutScripts() throws {
    let page = try Self.page
    // Only the switch between variants needs a script; the style sheet implements zooming.
    #expect(page.matches(of: /<fieldset class="switch" hidden>/).count == 1)
    #expect(page.contains("id=\"zoom-16\"") && page.contains(".tracks:has(#zoom-16:checked)"))
    #expect(!page.contains("<div class=\"panel\" hidden"))
    #expect(!page.contains("onclick"))
  }

  @Test func scalesAreShownAsCurvesAndTable() throws {
    let page = try Self.page
    #expect(page.contains("at 2 scales"))
    #expect(page.contains("<h2 id=\"growth\">Scaling</h2>"))
    #expect(page.contains("<title>SELECTs at scale 1, 10; the table below has the numbers</title>"))
    let rows = page.matches(of: /<tr><th scope="row">([^<]*)<\/th>(.*?)<td>([a-z ]*)<\/td><\/tr>/)
    let growth = rows.map { "\($0.1): \($0.3)" }
    #expect(growth.contains("plain: constant") && growth.contains("held: constant"))
    #expect(page.contains("7 × fault Mood") && page.contains("list()\nmain"))
    #expect(page.contains("2 ms (1 ms to 4 ms, 3 runs)"))
    #expect(try !HTMLReport.page(FaultStormScenario(moods: 20).result()).contains("Scaling"))
  }

  /// Values at the scales 1, 10, and 100, and the expected description of their growth.
  @Test(arguments: [
    ([5, 5, 5], "constant"), ([10, 100, 1_000], "linear"), ([1, 100, 10_000], "quadratic"),
    ([0, 3, 9], "grows"), ([9, 3, 0], "shrinks"), ([61, 70, 160], "as scale to the power of 0.4"),
    ([100, 50, 20], "shrinks"), ([5, 0, 3], "shrinks"), ([3, 0, 5], "grows"),
  ])
  func growthIsDescribed(values: [Int], words: String) {
    #expect(ReportCurves.growth(from: values, at: [1, 10, 100]) == words)
  }

  /// Labels fit left of the axis, zero has its own line, and large numbers don't overflow.
  @Test(arguments: [
    [0, 1, 10], [1, 10_000_000], [0, 12_345_678_901], [0, .max], [5, 5], [0, 0],
  ])
  func chartLabelsFitAndDoNotOverlap(counts: [Int]) throws {
    let chart = ReportChart(
      scales: Array(1...counts.count), names: ["a"], lines: [counts])
    for label in chart.values {
      #expect(label.left < chart.left && label.left - 7 * label.text.count >= 0, "\(label)")
    }
    let tops = Dictionary(
      zip(counts, chart.lines[0].dots.map(\.top)), uniquingKeysWith: { first, _ in first })
    #expect(tops.values.allSatisfy { (0...200).contains($0) })
    if let zero = tops[0] {
      #expect(chart.values.contains { $0.text == "0" && $0.top == zero + 4 })
      #expect(tops.filter { $0.key > 0 }.allSatisfy { $0.value < zero })
    } else {
      #expect(!chart.values.contains { $0.text == "0" })
    }
    let labels = chart.values.map(\.top).sorted()
    #expect(zip(labels, labels.dropFirst()).allSatisfy { $1 - $0 >= 12 }, "\(labels)")
  }

  @Test func curveLabelsDoNotOverlap() {
    let chart = ReportChart(
      scales: [1, 10], names: ["a", "b", "c", "d", "e"],
      lines: [[1, 1], [1, 1], [2, 2], [3, 3], [10, 100_000]])
    let tops = chart.names.map(\.top)
    #expect(zip(tops, tops.dropFirst()).allSatisfy { $1 - $0 >= 15 })
    #expect(chart.names.contains { $0.text == "a, b" })
    #expect(tops.allSatisfy { (0...220).contains($0) })
  }

  @Test("The names of more lines than fit below each other are joined")
  func namesOfManyLinesAreJoined() {
    for count in [13, 14, 20, 60] {
      let chart = ReportChart(
        scales: [1, 10], names: (1...count).map { "v\($0)" },
        lines: (1...count).map { [1, 1 << $0] })
      let tops = chart.names.map(\.top)
      #expect(zip(tops, tops.dropFirst()).allSatisfy { $1 - $0 >= 15 })
      #expect(tops.allSatisfy { (12...204).contains($0) }, "\(count): \(tops)")
      #expect(chart.names.first.map { $0.text.hasPrefix("v\(count)") } == true)
      #expect(chart.names.last.map { $0.text.hasSuffix("v1") } == true)
    }
  }

  @Test("A name that doesn't fit next to its line ends with an ellipsis, alone or with others")
  func longNamesAreCutOff() {
    let long = String(repeating: "n", count: 50)
    for (names, lines) in [([long], [[1, 9]]), ([long, "b"], [[1, 9], [2, 9]])] {
      let chart = ReportChart(scales: [1, 10], names: names, lines: lines)
      #expect(chart.names.map(\.text) == [String(long.prefix(33)) + "…"])
    }
    let chart = ReportChart(scales: [1, 10], names: [String(long.prefix(34))], lines: [[1, 9]])
    #expect(chart.names.map(\.text) == [String(long.prefix(34))])
  }
}
