use super::*;

fn net(format: proto::NetworkFormat) -> proto::Net {
    proto::Net {
        format: Some(proto::Format { weights_encoding: None, network_format: Some(format) }),
        ..proto::Net::default()
    }
}

#[test]
fn a_missing_format_is_classical() {
    let header = Header::of(&proto::Net::default(), "x").unwrap();
    assert_eq!(header, Header::classical(InputFormat::Classical));
    assert_eq!(Header::of(&net(proto::NetworkFormat::default()), "x").unwrap(), header);
}

#[test]
fn the_oldest_structures_have_classical_heads() {
    for structure in [1, 2] {
        let format = proto::NetworkFormat {
            input: Some(1),
            network: Some(structure),
            policy: Some(2),
            value: Some(2),
            ..proto::NetworkFormat::default()
        };
        assert_eq!(Header::of(&net(format), "x").unwrap(), Header::classical(InputFormat::Classical));
    }
}

#[test]
fn encoders_make_an_attention_body() {
    let mut net = net(proto::NetworkFormat { network: Some(4), ..proto::NetworkFormat::default() });
    assert_eq!(Header::of(&net, "x").unwrap().structure, Structure::Residual);
    net.weights = Some(proto::Weights { encoder: vec![proto::EncoderLayer::default()], ..Default::default() });
    assert_eq!(Header::of(&net, "x").unwrap().structure, Structure::AttentionBody);
}

#[test]
fn unknown_numbers_are_named() {
    let cases = [
        (proto::NetworkFormat { input: Some(9), ..Default::default() }, "input format 9"),
        (proto::NetworkFormat { network: Some(99), ..Default::default() }, "network structure 99"),
        (proto::NetworkFormat { network: Some(4), value: Some(3), ..Default::default() }, "value format 3"),
        (proto::NetworkFormat { network: Some(4), policy: Some(7), ..Default::default() }, "policy format 7"),
    ];
    for (format, wanted) in cases {
        let error = Header::of(&net(format), "x.pb").unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("x.pb"), "{error}");
    }
}
