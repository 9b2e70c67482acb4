import FlyingSocks
import Foundation
import WorkbenchText

/// Reads a request from a connection, and never more than the limits allow.
struct HTTPReader {
  /// The response to a request that can't be read.
  struct Refusal: Error {
    let response: HTTPResponse
  }

  private let socket: AsyncSocket
  private var buffer: [UInt8] = []

  init(_ socket: AsyncSocket) {
    self.socket = socket
  }

  /// Reads the request line and the headers.
  ///
  /// - Throws: A `Refusal`, or the socket's error.
  mutating func head() async throws -> HTTPRequestHead {
    let end = Array("\r\n\r\n".utf8)
    var searched = 0
    while true {
      if let range = buffer[searched...].firstRange(of: end) {
        guard let head = HTTPRequestHead(buffer[..<range.lowerBound]) else {
          throw Refusal(response: .text("The request isn't valid HTTP.\n", .badRequest))
        }
        buffer.removeFirst(range.upperBound)
        return head
      }
      guard buffer.count < InputLimits.requestHead else {
        throw Refusal(response: .text("The headers are too long.\n", .headersTooLarge))
      }
      searched = max(0, buffer.count - end.count + 1)
      buffer += try await socket.read(atMost: InputLimits.requestHead - buffer.count)
    }
  }

  /// Reads the body of a request.
  ///
  /// - Throws: A `Refusal` if it's longer than the limit or its length isn't known, without reading
  ///   it; the socket's error.
  mutating func body(of head: HTTPRequestHead) async throws -> Data {
    guard head["transfer-encoding"] == nil, let length = head.contentLength else {
      throw Refusal(response: .text("Send the body with a Content-Length.\n", .lengthRequired))
    }
    guard length <= InputLimits.requestBody else {
      let limit = NumberText.grouped(InputLimits.requestBody)
      throw Refusal(
        response: .text("The request is too long; the limit is \(limit) bytes.\n", .tooLarge))
    }
    while buffer.count < length {
      buffer += try await socket.read(atMost: min(length - buffer.count, 1 << 16))
    }
    return Data(buffer.prefix(length))
  }

  /// Reads what a client still sends, up to a limit, so that it gets the response: closing a
  /// connection with unread bytes resets it.
  mutating func discardRest() async throws {
    buffer = []
    var count = 0
    while count < 4 * InputLimits.requestBody {
      count += try await socket.read(atMost: 1 << 16).count
    }
  }
}
