/// Short forms of regions that addresses have: states of Brazil, provinces of Italy, and those that `RegionTable` knows.
enum AddressRegionCodes {
    static func state(_ name: String, country: String) -> String {
        if country == "BR" { return brazil[TokenizedText.key(name)] ?? "" }
        guard RegionTable.writesCodes.contains(country) else { return "" }
        return RegionTable.shared.region(name, country: country)?.code ?? ""
    }

    static func county(_ name: String, country: String) -> String {
        country == "IT" ? italy[TokenizedText.key(name)] ?? "" : ""
    }

    private static func read(_ text: String) -> [String: String] {
        var result: [String: String] = [:]
        for part in text.split(whereSeparator: { $0 == "," || $0 == "\n" }) {
            guard let space = part.lastIndex(of: " ") else { continue }
            result[TokenizedText.key(String(part[..<space]))] = String(part[part.index(after: space)...])
        }
        return result
    }

    private static let brazil = read(
        """
        Acre AC,Alagoas AL,Amapá AP,Amazonas AM,Bahia BA,Ceará CE,Distrito Federal DF,Espírito Santo ES,Goiás GO
        Maranhão MA,Mato Grosso MT,Mato Grosso do Sul MS,Minas Gerais MG,Pará PA,Paraíba PB,Paraná PR,Pernambuco PE
        Piauí PI,Rio de Janeiro RJ,Rio Grande do Norte RN,Rio Grande do Sul RS,Rondônia RO,Roraima RR
        Santa Catarina SC,São Paulo SP,Sergipe SE,Tocantins TO
        """)

    private static let italy = read(
        """
        Agrigento AG,Alessandria AL,Ancona AN,Aosta AO,Arezzo AR,Ascoli Piceno AP,Asti AT,Avellino AV,Bari BA
        Barletta-Andria-Trani BT,Belluno BL,Benevento BN,Bergamo BG,Biella BI,Bologna BO,Bolzano BZ,Brescia BS
        Brindisi BR,Cagliari CA,Caltanissetta CL,Campobasso CB,Caserta CE,Catania CT,Catanzaro CZ,Chieti CH,Como CO
        Cosenza CS,Cremona CR,Crotone KR,Cuneo CN,Enna EN,Fermo FM,Ferrara FE,Firenze FI,Foggia FG,Forlì-Cesena FC
        Frosinone FR,Genova GE,Gorizia GO,Grosseto GR,Imperia IM,Isernia IS,L'Aquila AQ,La Spezia SP,Latina LT
        Lecce LE,Lecco LC,Livorno LI,Lodi LO,Lucca LU,Macerata MC,Mantova MN,Massa-Carrara MS,Matera MT,Messina ME
        Milano MI,Modena MO,Monza e della Brianza MB,Napoli NA,Novara NO,Nuoro NU,Oristano OR,Padova PD,Palermo PA
        Parma PR,Pavia PV,Perugia PG,Pesaro e Urbino PU,Pescara PE,Piacenza PC,Pisa PI,Pistoia PT,Pordenone PN
        Potenza PZ,Prato PO,Ragusa RG,Ravenna RA,Reggio Calabria RC,Reggio Emilia RE,Rieti RI,Rimini RN,Roma RM
        Rovigo RO,Salerno SA,Sassari SS,Savona SV,Siena SI,Siracusa SR,Sondrio SO,Sud Sardegna SU,Taranto TA,Teramo TE
        Terni TR,Torino TO,Trapani TP,Trento TN,Treviso TV,Trieste TS,Udine UD,Varese VA,Venezia VE
        Verbano-Cusio-Ossola VB,Vercelli VC,Verona VR,Vibo Valentia VV,Vicenza VI,Viterbo VT
        """)
}
