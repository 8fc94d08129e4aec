import Crypto
import CryptoExtras
import Dispatch
import Foundation
import Synchronization

/// A password as it is kept: scrypt's result with its parameters and salt. The password can't be found from it but by guessing,
/// and each guess costs as much memory and time as a sign-in.
struct PasswordHash: Sendable, Hashable {
    /// Binary logarithm of the number of rounds.
    var cost: Int
    var salt: Data
    var key: Data

    static let blockSize = 8
    static let parallelism = 1
    static let keyBytes = 32

    init(cost: Int, salt: Data, key: Data) {
        self.cost = cost
        self.salt = salt
        self.key = key
    }

    init(of password: String, cost: Int, salt: Data) throws {
        self.init(cost: cost, salt: salt, key: try Self.derived(password, cost: cost, salt: salt))
    }

    /// `scrypt$16$8$1$<salt>$<key>`; nil for what is none.
    init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 6, parts[0] == "scrypt", let cost = Int(parts[1]), (1...24).contains(cost),
            parts[2] == "\(Self.blockSize)", parts[3] == "\(Self.parallelism)",
            let salt = Data(base64Encoded: parts[4]), let key = Data(base64Encoded: parts[5])
        else { return nil }
        self.init(cost: cost, salt: salt, key: key)
    }

    var text: String {
        "scrypt$\(cost)$\(Self.blockSize)$\(Self.parallelism)$\(salt.base64EncodedString())$\(key.base64EncodedString())"
    }

    /// Takes as long for a wrong password as for the right one.
    func matches(_ password: String) throws -> Bool {
        let other = try Self.derived(password, cost: cost, salt: salt)
        guard other.count == key.count else { return false }
        return zip(key, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// One password may be typed in two Unicode forms.
    private static func derived(_ password: String, cost: Int, salt: Data) throws -> Data {
        let bytes = Data(password.precomposedStringWithCanonicalMapping.utf8)
        let rounds = 1 << cost
        let memory = 128 * rounds * blockSize * 2 + 16 * 1_024 * 1_024
        let key = try KDF.Scrypt.deriveKey(
            from: bytes, salt: salt, outputByteCount: keyBytes, rounds: rounds, blockSize: blockSize,
            parallelism: parallelism, maxMemory: memory)
        return key.withUnsafeBytes { Data($0) }
    }
}

/// Hashes passwords, one at a time on a thread of its own: each takes much memory, and requests go on at the same time.
package final class PasswordHasher: Sendable {
    private let queue = DispatchQueue(label: "fieldwork.passwords")
    private let waiting = Mutex(0)
    let cost: Int
    /// What a password is compared with where there is no such person: the same work.
    private let nobody: PasswordHash

    package init(cost: Int = Limits.passwordCost) {
        self.cost = cost
        nobody = PasswordHash(cost: cost, salt: Secret.bytes(16), key: Secret.bytes(PasswordHash.keyBytes))
    }

    func hash(_ password: String) async throws -> PasswordHash {
        let salt = Secret.bytes(16)
        return try await inTurn { [cost] in try PasswordHash(of: password, cost: cost, salt: salt) }
    }

    /// - Parameter hash: nil where there is no such person.
    func check(_ password: String, against hash: PasswordHash?) async throws -> Bool {
        let compared = hash ?? nobody
        let matches = try await inTurn { try compared.matches(password) }
        return matches && hash != nil
    }

    private func inTurn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try waiting.withLock { count throws(PortalError) in
            guard count < Limits.waitingPasswords else {
                throw PortalError(.busy, "Too many people sign in at once. Try again in a moment.")
            }
            count += 1
        }
        defer { waiting.withLock { $0 -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }
}

extension PasswordHasher {
    /// Throws for a password that is too easy to guess.
    package static func check(_ password: String, of name: String) throws(PortalError) {
        guard password.count >= Limits.passwordLength else {
            throw PortalError(.invalid, "A password has at least \(Limits.passwordLength) characters.")
        }
        guard password.utf8.count <= Limits.passwordBytes else {
            throw PortalError(.invalid, "A password has at most \(Limits.passwordBytes) bytes.")
        }
        guard password.lowercased() != name.lowercased() else {
            throw PortalError(.invalid, "A password must differ from the user name.")
        }
    }
}
