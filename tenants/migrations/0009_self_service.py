
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("tenants", "0008_operators"),
    ]

    operations = [
        migrations.AddField(
            model_name='apikey',
            name='made_by_id',
            field=models.UUIDField(editable=False, null=True, verbose_name='made by the key'),
        ),
        migrations.AddField(
            model_name='tenant',
            name='max_own_rules',
            field=models.PositiveSmallIntegerField(blank=True, null=True, verbose_name='TTL rules of its own making'),
        ),
        migrations.AddField(
            model_name='tenant',
            name='max_own_ttl',
            field=models.PositiveBigIntegerField(blank=True, null=True, verbose_name='longest TTL of those, in seconds'),
        ),
    ]
