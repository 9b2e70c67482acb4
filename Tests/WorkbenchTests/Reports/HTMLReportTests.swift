import Foundation
import Testing
import Workbench

@Suite struct HTMLReportTests {
  @Test func thePageIsWritten() throws {
    let page = try HTMLReport.page(FaultLesson().result())
    try Data(page.utf8).write(to: URL(fileURLWithPath: "/tmp/report/page.html"))
    try Data(HTMLReport.page(FaultLesson().result(missing: true)).utf8).write(to: URL(fileURLWithPath: "/tmp/report/missed.html"))
    try JSONReport.data(FaultLesson().result()).write(to: URL(fileURLWithPath: "/tmp/report/page.json"))
  }
}
