/// Under which names the server answers, and to pages of which sites, as whoever starts it says.
package struct AccessRules: Sendable {
    /// Names beside those of this machine, by which clients reach the server.
    package var hosts: [HostName]
    /// Pages of these sites may read.
    package var readers: Set<SiteOrigin>
    /// Pages of every site may read: for data that is public anyway.
    package var isReadByAll: Bool
    /// Pages of these sites may read and edit.
    package var editors: Set<SiteOrigin>
    /// The address that answers give to clients; nil: the one that the client has used.
    package var publicAddress: PublicAddress?
    /// Whose `X-Forwarded-For`, `-Proto` and `-Host` are believed.
    package var proxies: [NetworkRange]
    /// Opens `/metrics` from elsewhere than this machine, as the key of the administrative operations does.
    package var metricsKey: AdministrationKey?

    package init(
        hosts: [HostName] = [], readers: Set<SiteOrigin> = [], isReadByAll: Bool = false,
        editors: Set<SiteOrigin> = [], publicAddress: PublicAddress? = nil, proxies: [NetworkRange] = [],
        metricsKey: AdministrationKey? = nil
    ) {
        self.hosts = hosts
        self.readers = readers
        self.isReadByAll = isReadByAll
        self.editors = editors
        self.publicAddress = publicAddress
        self.proxies = proxies
        self.metricsKey = metricsKey
    }

    func isProxy(_ address: NetworkAddress?) -> Bool {
        guard let address else { return false }
        return proxies.contains { $0.contains(address) }
    }
}
